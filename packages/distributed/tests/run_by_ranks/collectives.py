"""Every collective, each dtype and form of tensor, against NumPy."""
import itertools
import sys

import numpy as np
from devices import ON_GPU

import wherry_tensor as wt
from wherry_distributed import (
    P2POp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    alltoall_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    collective,
    gather,
    gather_object,
    get_backend,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    irecv,
    isend,
    new_group,
    reduce,
    reduce_scatter,
    scatter,
    scatter_object_list,
    send,
    stream,
)

init_parallel_env()
rank, size = get_rank(), get_world_size()
if ON_GPU:
    assert get_backend() == "NCCL" and wt.get_device() == f"gpu:{rank}"
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64", "complex128"]
SHAPES = [(3,), (), (0, 2), (2, 3, 2)]
SUM, MAX, MIN, PROD, AVG = range(5)


def numbers(r, shape, dtype, seed=0):
    """What rank `r` has, as all ranks know."""
    rng = np.random.default_rng([seed, r, len(shape)])
    found = rng.integers(1, 4, shape)
    if dtype == "bool":
        return found > 2
    return found + 1j * (r + 1) if dtype.startswith("complex") else found


def tensor(values, dtype, form="plain"):
    x = wt.to_tensor(values).astype(dtype)
    if form == "turned" and x.ndim > 1:
        order = list(range(x.ndim))[::-1]
        x = x.transpose(order).contiguous().transpose(order)
        assert not x.is_contiguous() or x.size < 2
    return x


def numpy(x):
    return (x.astype("float32") if x.dtype.name in ("float16", "bfloat16") else x).numpy()


def same(x, expected):
    np.testing.assert_array_equal(numpy(x), np.asarray(expected).astype(numpy(x).dtype))


def reduced(op, values):
    if values[0].dtype == bool:
        return (np.any if op in (SUM, MAX) else np.all)(values, axis=0)
    return {SUM: np.sum, MAX: np.max, MIN: np.min, PROD: np.prod, AVG: np.mean}[op](values, axis=0)


def legal(op, dtype):
    if dtype.startswith("complex"):
        return op in (SUM, PROD, AVG)
    return op != AVG or dtype.startswith(("float", "bfloat"))


def every(ranks, group=None):
    count = len(ranks)
    for dtype, shape, form in itertools.product(DTYPES, SHAPES, ("plain", "turned")):
        if form == "turned" and len(shape) < 2:
            continue
        all_values = [numbers(r, shape, dtype) for r in ranks]

        def mine(dtype=dtype, shape=shape, form=form):
            return tensor(numbers(rank, shape, dtype), dtype, form)

        place = ranks.index(rank)
        for op in (SUM, MAX, MIN, PROD, AVG):
            if not legal(op, dtype):
                continue
            x = mine()
            version = x.inplace_version
            all_reduce(x, op, group)
            expected = reduced(op, all_values)
            if op == AVG and count == 3:
                np.testing.assert_allclose(numpy(x), expected, rtol=1e-2 if "16" in dtype else 1e-6)
            else:
                same(x, expected)
            assert x.inplace_version > version
        x = mine()
        task = all_reduce(x, SUM, group, sync_op=False)
        assert task.wait() and task.is_completed()
        same(x, reduced(SUM, all_values))
        x = mine()
        reduce(x, ranks[-1], SUM, group)
        same(x, reduced(SUM, all_values) if place == count - 1 else all_values[place])
        x = mine()
        broadcast(x, ranks[-1], group)
        same(x, all_values[-1])
        found = []
        all_gather(found, mine(), group)
        for got, expected in zip(found, all_values, strict=True):
            same(got, expected)
        into = [mine() for _ in ranks]
        all_gather(into, mine(), group, sync_op=False).wait()
        same(into[0], all_values[0])
        whole = tensor(np.zeros((count, *shape)), dtype)
        all_gather(whole, mine(), group)
        same(whole, np.stack(all_values))
        found = []
        gather(mine(), found, ranks[0], group)
        assert len(found) == (count if place == 0 else 0)
        for got, expected in zip(found, all_values, strict=False):
            same(got, expected)
        lists = [[numbers(r, shape, dtype, seed=1 + to) for to in range(count)] for r in ranks]
        own = [tensor(each, dtype, form) for each in lists[place]]
        x = mine()
        scatter(x, own if place == 0 else None, ranks[0], group)
        same(x, lists[0][place])
        x = mine()
        reduce_scatter(x, own, SUM, group)
        same(x, reduced(SUM, [each[place] for each in lists]))
        found = []
        alltoall(own, found, group)
        for got, each in zip(found, lists, strict=True):
            same(got, each[place])
        if shape and shape[0]:
            rows = tensor(np.concatenate(lists[place]), dtype)
            out = tensor(np.zeros_like(np.concatenate(lists[place])), dtype)
            alltoall_single(rows, out, group=group)
            same(out, np.concatenate([each[place] for each in lists]))
            x = mine()
            reduce_scatter(x, rows, SUM, group)
            same(x, reduced(SUM, [each[place] for each in lists]))
        # a ring, in which everybody begins by sending
        x = mine()
        to, source = ranks[(place + 1) % count], ranks[place - 1]
        tasks = [isend(mine(), to, group), irecv(x, source, group)]
        for task in tasks:
            task.wait()
        same(x, all_values[place - 1])


every(list(range(size)))
pair = new_group([0, size - 1])
alone = new_group([0])
assert get_group(pair.id) is pair and (pair.rank >= 0) == (rank in (0, size - 1)) and get_world_size(alone) == (1 if rank == 0 else -1)
if pair.is_member() and size > 2:
    every([0, size - 1], pair)
x = wt.to_tensor([1.0 + rank])
all_reduce(x, group=alone)
assert x.tolist() == [1.0 + rank]

# parts of different sizes
sent = wt.to_tensor(np.arange(size * (size + 1) // 2 * 2).reshape(-1, 2) + 100 * rank)
taken = wt.to_tensor(np.zeros((size * (rank + 1), 2), np.int64))
alltoall_single(sent, taken, [r + 1 for r in range(size)], [rank + 1] * size)
begin = rank * (rank + 1) // 2
rows = np.arange(size * (size + 1) // 2 * 2).reshape(-1, 2)[begin:begin + rank + 1]
assert np.array_equal(taken.numpy(), np.concatenate([rows + 100 * r for r in range(size)]))

# many messages between two, received in another order than they were sent
if rank == 0:
    for task in [isend(wt.to_tensor([float(i)] * (1 << i)), 1) for i in range(8)]:
        task.wait()
elif rank == 1:
    there = [wt.zeros([1 << i]) for i in range(8)]
    tasks = [irecv(each, 0) for each in there]
    for task in tasks[::-1]:
        task.wait()
    assert [each[0].item() for each in there] == list(range(8))
batch = batch_isend_irecv([P2POp(isend, wt.to_tensor([rank]), (rank + 1) % size), P2POp(irecv, x := wt.to_tensor([-1]), (rank - 1) % size)])
for task in batch:
    task.wait()
assert x.tolist() == [(rank - 1) % size]

# objects
found = []
all_gather_object(found, {"rank": rank, "long": "x" * 1000 * rank})
assert [each["rank"] for each in found] == list(range(size)) and len(found[1]["long"]) == 1000
objects = [("of", rank), None]
broadcast_object_list(objects, 1)
assert objects == [("of", 1), None]
scatter_object_list(found, [f"for {r}" for r in range(size)] if rank == 0 else None)
assert found == [f"for {rank}"]
gather_object(rank, found, 1)
assert found == (list(range(size)) if rank == 1 else [f"for {rank}"])

# several on their way; stream; large
x, y = wt.ones([1 << 20]), wt.ones([5])
tasks = [all_reduce(x, sync_op=False), all_reduce(y, sync_op=False)]
for task in tasks[::-1]:
    task.wait()
assert x.numpy().min() == x.numpy().max() == size and y.tolist() == [size] * 5
stream.all_reduce(y, use_calc_stream=True)
assert y.tolist() == [size * size] * 5
out = []
stream.alltoall(out, [wt.to_tensor([rank])] * size)
assert [each.item() for each in out] == list(range(size))
barrier()

# wrong calls are refused before anything is sent, so that the others do not wait
for call, kind, text in [
    (lambda: all_reduce([1.0]), TypeError, "not a Tensor"),
    (lambda: all_reduce(wt.ones([1]), 9), ValueError, "op is not known"),
    (lambda: all_reduce(wt.to_tensor([1]), AVG), TypeError, "integers have no average"),
    (lambda: all_reduce(wt.to_tensor([1j]), MAX), TypeError, "no order"),
    (lambda: broadcast(wt.ones([1]), size), ValueError, "not a rank of the group"),
    (lambda: all_gather([wt.ones([2])] * size, wt.ones([1])), ValueError, "does not fit"),
    (lambda: alltoall([wt.ones([1])], []), ValueError, f"list of {size} tensors"),
    (lambda: send(wt.ones([1]), rank), ValueError, "oneself"),
    (lambda: all_reduce(wt.ones([1]), group=3), ValueError, "not a group"),
    (lambda: new_group([0, 0]), ValueError, "distinct"),
    (lambda: alltoall_single(wt.ones([size]), wt.ones([size]), [size + 1] * size), ValueError, "in_split_sizes"),
    (lambda: collective.P2POp(print, x, 0), ValueError, "isend"),
    (lambda: new_group([0], backend="hccl"), RuntimeError, "hccl"),
]:
    try:
        call()
    except kind as error:
        assert text in str(error), (text, error)
    else:
        raise AssertionError(text)
barrier()

# calls whose tasks and tensors are gone before anybody has waited write no other tensor
for _ in range(100):
    batch_isend_irecv([P2POp(isend, wt.full([4000], 7.0), (rank + 1) % size), P2POp(irecv, wt.zeros([4000]), (rank - 1) % size)])
    all_reduce(wt.full([3000], 5.0), sync_op=False)
    others = [wt.full([4000], 3.0) for _ in range(4)]
    barrier()
    assert all(bool((x == 3.0).all()) for x in others)
print("all right", file=sys.stderr)
