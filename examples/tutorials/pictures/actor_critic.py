# The pole of an episode with the trained actor: its angle, and where the cart is.
from wherry_web.playground import plot

world, states = CartPole(seed=1), []
state, ended = world.reset(), False
while not ended and len(states) < 200:
    states.append(state)
    with paddle.no_grad():
        state, _, ended, _ = world.step(int(actor(paddle.to_tensor(state)).logits.argmax()))
plot({"cart": [one[0] for one in states], "angle of the pole": [one[2] for one in states]}, x_label="step")
