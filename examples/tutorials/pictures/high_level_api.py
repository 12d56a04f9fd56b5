# What the first sixteen of the 64 hidden values look for: their weights as pictures, dark where ink speaks against them.
from wherry_web.playground import show

show(network[1].weight.t().reshape([64, 28, 28])[:16], title="Weights of the first layer")
