# Which English words the decoder looks at (columns) while it writes each German word (rows): the brighter, the more.
from wherry_web.playground import show

seen = encoder(paddle.to_tensor(sources[:1]))
hidden, cell, rows = paddle.zeros([1, 1, HIDDEN]), paddle.zeros([1, 1, HIDDEN]), []
for step in range(LENGTH):
    state = paddle.expand(paddle.transpose(hidden, [1, 0, 2]), [1, seen.shape[1], HIDDEN])
    fits = decoder.linear2(F.tanh(decoder.linear1(paddle.concat((seen, state), axis=-1))))
    rows.append(F.softmax(fits.flatten()))
    _, (hidden, cell) = decoder(paddle.to_tensor(targets[:1, step : step + 1]), hidden, cell, seen)
show(paddle.stack(rows).detach(), title=f"{' '.join(pairs[0][0])} -> {' '.join(pairs[0][1])}", low=0, high=1)
