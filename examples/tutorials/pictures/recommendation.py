# How alike the films are to each other by what was learned of them: bright where one likes both.
from wherry_web.playground import show

films_as = model.network.film_embedding.weight[1:]
films_as = films_as / films_as.norm(axis=1, keepdim=True)
show((films_as @ films_as.t()).detach(), title="Cosines between films", low=-1, high=1)
