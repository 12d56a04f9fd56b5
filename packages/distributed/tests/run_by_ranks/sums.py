"""Numbers averaged over ranks: in common memory and by messages, against NumPy."""
import sys

import numpy as np

import wherry_ops_cpu.column
import wherry_tensor as wt
from wherry_distributed import averages as av
from wherry_distributed import get_rank, get_world_size, init_parallel_env, new_group

wherry_ops_cpu.column.register()
init_parallel_env()
rank, size = get_rank(), get_world_size()
group, dtype = new_group(), wt.zeros([1], "float32").dtype


def made(count, averaged, way):
    if way == "messages":
        return av.MessageSum(group, count, dtype, averaged)
    window, (blocks,) = av.windows(group, [av.CommonSum.bytes_for(count, dtype, group)])
    return av.CommonSum(group, window, blocks, "float32", averaged, "numbers")


def values(count, step):
    return [np.random.default_rng(97 * step + each).standard_normal(count).astype("float32") for each in range(size)]


for way in ("common", "messages"):
    for count, averaged in ((1, 1), (2, 0), (7, 5), (1000, 990), (3 * av.PIECE + 5, 3 * av.PIECE), (size * av.PIECE, 17)):
        sums = made(count, averaged, way)
        for step in range(3):
            everyone = values(count, step)
            av.fill(sums.mine, everyone[rank])
            assert sums.average(10) == []
            expected = np.sum(everyone, axis=0)
            expected[:averaged] /= size
            np.testing.assert_allclose(sums.mine.numpy(), expected, rtol=1e-5, atol=1e-6)

    # NaN: whose they are, wherever they stand; infinities of both signs are nobody's
    sums = made(1000, 1000, way)
    for place in (0, 499, 500, 999):
        for bad in range(size):
            everyone = values(1000, place)
            everyone[bad][place] = np.nan
            av.fill(sums.mine, everyone[rank])
            assert sums.average(10) == [bad], (way, place, bad)
    everyone = values(1000, 0)
    everyone[0][3], everyone[1][3], everyone[0][7] = np.inf, -np.inf, -np.inf
    av.fill(sums.mine, everyone[rank])
    assert sums.average(10) == []
    assert np.isnan(sums.mine.numpy()[3]) and not np.isnan(sums.mine.numpy()[4:]).any() and sums.mine.numpy()[7] == -np.inf

# without room for it messages carry them, also where one rank alone has none
if rank == size - 1:
    av.FOLDER = "/not/there"
assert av.windows(group, [4096]) is None
print("all right", file=sys.stderr)
