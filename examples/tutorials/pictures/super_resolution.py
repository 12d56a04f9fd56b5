# Scans, their pixels made larger, what the network made of them, and what was wanted.
from wherry_web.playground import show

show(test.small[:6].repeat(FACTOR, axis=2).repeat(FACTOR, axis=3), title="Larger pixels", low=0, high=1)
show(np.concatenate(outputs)[:6], title="From the network", low=0, high=1)
show(test.large[:6], title="As it should be", low=0, high=1)
