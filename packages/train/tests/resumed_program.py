"""A training that test_checkpoint.py kills again and again. Prints a digest of everything that decides its numbers.

    python resumed_program.py KIND FOLDER

KIND is `loop` (Checkpoint in a loop of one's own), `fit` (ResumeTraining), `workers` (a loop whose data come
from worker processes) or `load` (Model.save and Model.load after each epoch).
"""
import hashlib
import random
import sys
import time
from pathlib import Path

import numpy as np

import wherry_nn as nn
from wherry_tensor import rand, seed
from wherry_train import Checkpoint, Model, random_state
from wherry_train.callbacks import Callback, EarlyStopping, ResumeTraining
from wherry_train.io import DataLoader, Dataset
from wherry_train.metric import Accuracy
from wherry_train.optimizer import Adam, lr

EPOCHS = 4
STEPS = 15  # in an epoch
PAUSE = 0.01  # after each step: the whole takes longer than the time after which it is killed, on every machine


class Noisy(Dataset):
    """Samples that are drawn anew each time: from NumPy's and Python's generators."""

    def __init__(self, noise=True):
        self.points = np.random.default_rng(0).normal(size=(8 * STEPS - 3, 6)).astype("float32")
        self.noise = noise

    def __getitem__(self, index):
        point = self.points[index]
        if self.noise:
            point = point + np.float32(0.1 * np.random.normal()) * np.float32(random.random())
        return point, np.array([int(self.points[index].sum() > 0)])

    def __len__(self):
        return len(self.points)


def network():
    return nn.Sequential(
        nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2),
    )


def main(kind, folder):
    seed(1)
    np.random.seed(1)
    random.seed(1)
    net = network()
    rate = lr.StepDecay(0.01, 7)
    optimizer = Adam(rate, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    seen = []
    {"loop": loop, "workers": loop, "fit": fit, "load": load}[kind](net, optimizer, folder, seen, kind)
    digest = hashlib.sha256()
    for value in (*net.state_dict().values(), *optimizer.state_dict().values()):
        digest.update(value.numpy().tobytes() if hasattr(value, "numpy") else repr(value).encode())
    digest.update(repr([*seen, random_state(), rand([3]).numpy(), np.random.rand(), random.random()]).encode())
    print("digest", digest.hexdigest(), flush=True)


def loop(net, optimizer, folder, seen, kind):
    loss_of = nn.CrossEntropyLoss()
    metric = Accuracy()
    loader = DataLoader(Noisy(kind == "loop"), batch_size=8, shuffle=True, num_workers=2 if kind == "workers" else 0)
    run = Checkpoint(folder / "run.ckpt", net=net, optimizer=optimizer, metric=metric)
    run.restore()
    for epoch in run.epochs(EPOCHS):
        if run.step == 0:
            metric.reset()
        for points, labels in run.batches(loader):
            scores = net(points)
            loss = loss_of(scores, labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            optimizer._learning_rate.step()
            metric.update(metric.compute(scores, labels))
            time.sleep(PAUSE)
            if run.step % 3 == 0:
                run.save()
                print("saved", epoch, run.step, flush=True)
        if epoch == 1:  # no save here: the end of this epoch is done again after a kill
            continue
        run.save()
        print("saved", epoch, "end", flush=True)
    seen.append(metric.accumulate())


def fit(net, optimizer, folder, seen, kind):
    stopping = EarlyStopping(patience=100, save_best_model=False)
    model = Model(net)
    model.prepare(optimizer, nn.CrossEntropyLoss(), Accuracy())
    model.fit(
        Noisy(), Noisy(False), batch_size=8, epochs=EPOCHS, verbose=0,
        callbacks=[ResumeTraining(folder / "run.ckpt", save_steps=4), stopping, Slow()],
    )
    seen += [stopping.wait_epoch, stopping.best_value, stopping.stopped_epoch]


def load(net, optimizer, folder, seen, kind):
    # With seeds that follow from the epoch, weights and optimizer are all that has to be kept.
    model = Model(net)
    model.prepare(optimizer, nn.CrossEntropyLoss())
    done = [int(path.stem) for path in folder.glob("*.pdopt") if path.stem.isdigit()]  # written after the weights
    if done:
        model.load(str(folder / str(max(done))))
    for epoch in range(max(done, default=-1) + 1, EPOCHS):
        seed(epoch)
        np.random.seed(epoch)
        random.seed(epoch)
        model.fit(Noisy(), batch_size=8, verbose=0, callbacks=[Slow()])
        model.save(str(folder / str(epoch)))
        print("saved", epoch, flush=True)
    seed(0)
    np.random.seed(0)
    random.seed(0)


class Slow(Callback):
    def on_train_batch_end(self, step, logs=None):
        print("step", step, flush=True)
        time.sleep(PAUSE)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
