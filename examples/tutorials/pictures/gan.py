# Real digits, and sixteen that the generator drew after so short a training.
from wherry_web.playground import show

show(real[:16], title="Real", low=-1, high=1)
with paddle.no_grad():
    show(generator(paddle.randn([16, NOISE, 1, 1])), title="Drawn", low=-1, high=1)
