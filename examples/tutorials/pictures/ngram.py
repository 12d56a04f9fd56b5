# How near words lie to each other after the training: rows and columns are the words in the order of the list.
from wherry_web.playground import show

vectors = network.embedding.weight
vectors = vectors / vectors.norm(axis=1, keepdim=True)
show((vectors @ vectors.t()).detach(), title="Cosines between words", low=-1, high=1)
print([names[number] for number in range(len(names))])
