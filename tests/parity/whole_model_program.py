"""Whole models, saved or loaded. Run by either framework, which it calls `paddle`.

    whole_model_program.py save FOLDER NAME...        each model as FOLDER/NAME and FOLDER/static_NAME, and what it gives
    whole_model_program.py load FOLDER NAME...        what each model gives through each way of loading it
    whole_model_program.py again FOLDER NEW NAME...   each model loaded from FOLDER and saved as NEW/NAME
    whole_model_program.py train FOLDER [KIND]        a program with its training graph, saved after three steps, and the next losses;
                                                      of KIND choice or loop
    whole_model_program.py go_on FOLDER               the next losses of that program

Results go to FOLDER/results.pickle, for each model and way a list of arrays for each batch. `test_whole_models.py` compares.
"""
import pickle
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path

import numpy as np
import paddle
from paddle import nn
from paddle.static import InputSpec

warnings.simplefilter("ignore")


class Encoder(nn.Layer):
    """Words, positions, an encoder, and a class for each sequence."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(40, 16), nn.Embedding(20, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, activation="gelu"), 2)
        self.out = nn.Linear(16, 3)

    def forward(self, ids):
        places = paddle.arange(paddle.shape(ids)[1])
        mask = paddle.unsqueeze((ids == 0).astype("float32") * -1e9, [1, 2])
        x = self.encoder(self.words(ids) + self.places(places), mask)
        return self.out(x[:, 0]), paddle.nn.functional.softmax(x)


class Recurrent(nn.Layer):
    """Two layers in both directions; what comes out, and the last states."""

    def __init__(self, kind):
        super().__init__()
        self.net, self.out = kind(5, 6, num_layers=2, direction="bidirect"), nn.Linear(12, 3)

    def forward(self, x):
        y, last = self.net(x)
        return (self.out(y), *(last if isinstance(last, tuple) else (last,)))


class Detector(nn.Layer):
    """Boxes and scores of a small image, and the best of them."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2D(3, 8, 3, 2, 1), nn.BatchNorm2D(8), nn.Hardswish(), nn.Conv2D(8, 8, 3, 2, 1), nn.LeakyReLU(0.1))
        self.places, self.scores = nn.Conv2D(8, 4, 1), nn.Conv2D(8, 1, 1)

    def forward(self, image):
        x = self.features(image)
        places = paddle.transpose(self.places(x), [0, 2, 3, 1]).reshape([-1, 4]) * 8
        scores = paddle.nn.functional.sigmoid(self.scores(x)).reshape([-1])
        boxes = paddle.concat([places[:, :2], places[:, :2] + paddle.nn.functional.softplus(places[:, 2:]) * 4], 1)
        kept = paddle.vision.ops.nms(boxes, 0.3, scores)
        return paddle.gather(boxes, kept), paddle.gather(scores, kept), kept


def best_boxes(boxes, scores):
    """What detectors of Paddle end with: an operator that no function of `paddle.vision` calls."""
    how = {"score_threshold": 0.05, "nms_top_k": 20, "keep_top_k": 12, "nms_threshold": 0.4, "normalized": False, "nms_eta": 1.0}
    how["background_label"] = -1
    if paddle.in_dynamic_mode():
        return paddle._C_ops.multiclass_nms3(boxes, scores, None, *how.values())
    helper = paddle.base.layer_helper.LayerHelper("multiclass_nms3")
    out, index, count = (helper.create_variable_for_type_inference(dtype) for dtype in ("float32", "int32", "int32"))
    helper.append_op(
        type="multiclass_nms3", inputs={"BBoxes": boxes, "Scores": scores}, attrs=how, outputs={"Out": out, "Index": index, "NmsRoisNum": count}
    )
    return out, index, count


class Yolo(nn.Layer):
    """Boxes of two layers, and the best of each class."""

    ANCHORS = ([10, 13, 16, 30], [33, 23, 30, 61])

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2D(3, 8, 3, 4, 1), nn.BatchNorm2D(8), nn.LeakyReLU(0.1), nn.Conv2D(8, 16, 3, 2, 1), nn.LeakyReLU(0.1))
        self.second = nn.Sequential(nn.Conv2D(16, 16, 3, 2, 1), nn.BatchNorm2D(16), nn.LeakyReLU(0.1))
        self.heads = nn.LayerList([nn.Conv2D(16, 2 * (5 + 3), 1) for _ in range(2)])

    def forward(self, image):
        features = [self.first(image)]
        features.append(self.second(features[0]))
        size = paddle.expand(paddle.shape(image)[2:].reshape([1, 2]), [paddle.shape(image)[0], 2]).astype("int32")
        boxes, scores = [], []
        for head, x, anchors, ratio in zip(self.heads, features, self.ANCHORS, (8, 16)):
            found = paddle.vision.ops.yolo_box(head(x), size, anchors, 3, 0.2, ratio, scale_x_y=1.05)
            boxes.append(found[0])
            scores.append(paddle.transpose(found[1], [0, 2, 1]))
        return best_boxes(paddle.concat(boxes, 1), paddle.concat(scores, 2))


class Regions(nn.Layer):
    """Proposals, the levels of a pyramid, regions cut out of them, and a class and a box for each."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2D(3, 8, 3, 4, 1), nn.ReLU(), nn.Conv2D(8, 8, 3, 2, 1), nn.ReLU())
        self.coarse = nn.MaxPool2D(2)
        self.scores, self.places = nn.Conv2D(8, 3, 1), nn.Conv2D(8, 12, 1)
        self.out = nn.Linear(8 * 9, 3 + 4)

    def forward(self, image):
        x = self.features(image)
        rows, columns = 8, 8
        y0, x0 = (np.arange(n, dtype="float32").reshape(shape) * 8 for n, shape in ((rows, (-1, 1, 1)), (columns, (1, -1, 1))))
        half = np.array([4, 8, 16], "float32")
        sides = [np.broadcast_to(side, (rows, columns, 3)) for side in (x0 - half, y0 - half, x0 + half, y0 + half)]
        anchors = paddle.to_tensor(np.stack(sides, -1).astype("float32"))
        size = paddle.expand(paddle.shape(image)[2:].reshape([1, 2]), [paddle.shape(image)[0], 2]).astype("float32")
        rois, scores, counts = paddle.vision.ops.generate_proposals(
            paddle.nn.functional.sigmoid(self.scores(x)), self.places(x), size, anchors, paddle.ones_like(anchors), 40, 8, 0.6, 2.0,
            return_rois_num=True,
        )
        levels, order, numbers = paddle.vision.ops.distribute_fpn_proposals(rois, 3, 4, 4, 20, rois_num=counts)
        maps = [x, self.coarse(x)]
        parts = [paddle.vision.ops.roi_align(maps[i], levels[i], numbers[i], 3, 1 / (8 << i), sampling_ratio=2) for i in range(2)]
        parts = paddle.gather(paddle.concat(parts), order.reshape([-1]))
        said = self.out(parts.flatten(1))
        deltas = said[:, 3:].unsqueeze(1) * 0.1
        boxes = paddle.vision.ops.box_coder(rois, [0.1, 0.1, 0.2, 0.2], deltas, "decode_center_size", box_normalized=False, axis=1).squeeze(1)
        classes = paddle.transpose(paddle.nn.functional.softmax(said[:, :3]), [1, 0]).unsqueeze(0)
        best, many, _ = paddle.vision.ops.matrix_nms(boxes.unsqueeze(0), classes, 0.05, 0.01, 20, 10, return_index=True, normalized=False)
        return best, many, scores, counts


class Flow(nn.Layer):
    """A choice and a loop, whose rounds depend on the data."""

    def __init__(self):
        super().__init__()
        self.step, self.other = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        if x.mean() > 0:
            y = self.other(x)
        else:
            y = x - 1
        rounds = paddle.zeros([1], "int64")
        while paddle.abs(y).max() < 8:
            y = paddle.tanh(self.step(y)) + y * 1.5
            rounds += 1
        return y, rounds


def zoo(name, **options):
    return lambda: getattr(paddle.vision.models, name)(num_classes=10, **options)


IMAGE = [None, 3, 64, 64]
MODELS = {
    "lenet": (lambda: paddle.vision.models.LeNet(), [None, 1, 28, 28], "float32"),
    "resnet18": (zoo("resnet18"), IMAGE, "float32"),
    "resnet50": (zoo("resnet50"), IMAGE, "float32"),
    "mobilenet_v1": (zoo("mobilenet_v1", scale=0.5), IMAGE, "float32"),
    "mobilenet_v2": (zoo("mobilenet_v2", scale=0.5), IMAGE, "float32"),
    "mobilenet_v3": (zoo("mobilenet_v3_small"), IMAGE, "float32"),
    "vgg11": (zoo("vgg11"), IMAGE, "float32"),
    "transformer": (Encoder, [None, None], "int64"),
    "lstm": (lambda: Recurrent(nn.LSTM), [None, 7, 5], "float32"),
    "gru": (lambda: Recurrent(nn.GRU), [None, 7, 5], "float32"),
    "detector": (Detector, [None, 3, 64, 64], "float32"),
    "yolo": (Yolo, [None, 3, 64, 64], "float32"),
    "regions": (Regions, [None, 3, 64, 64], "float32"),
    "flow": (Flow, [None, 4], "float32"),
}


def batches(name):
    """Inputs of two sizes that the program was not made for."""
    _, shape, dtype = MODELS[name]
    found = []
    for seed, batch in enumerate((1, 3)):
        rng = np.random.default_rng(seed)
        sizes = [batch, *(9 if n is None else n for n in shape[1:])]
        if dtype == "int64":
            found.append(rng.integers(0, 40, sizes))
        else:
            found.append((rng.standard_normal(sizes) - seed * 0.5).astype(dtype))
    return found


def arrays(result):
    return [np.asarray(x) for x in (result if isinstance(result, (list, tuple)) else [result])]


def settle(net):
    """Statistics that a trained net would have, so that deep nets do not vanish."""
    rng = np.random.default_rng(5)
    for layer in net.sublayers():
        if isinstance(layer, nn.BatchNorm2D):
            channels = layer._mean.shape
            layer._mean.set_value(rng.uniform(-0.1, 0.1, channels).astype("float32"))
            layer._variance.set_value(rng.uniform(0.5, 1.0, channels).astype("float32"))
            layer.weight.set_value(rng.uniform(0.8, 1.2, channels).astype("float32"))


def save(folder, names):
    found = {}
    for name in names:
        make, shape, dtype = MODELS[name]
        paddle.seed(1)
        net = make()
        settle(net)
        net.eval()
        found[name] = {"eager": [arrays(net(paddle.to_tensor(x))) for x in batches(name)]}
        paddle.jit.save(net, f"{folder}/{name}", input_spec=[InputSpec(shape, dtype, "x")])
        if name != "flow":  # whose `if` and `while` need conversion
            save_static(net, name, folder)
    return found


def save_static(net, name, folder):
    _, shape, dtype = MODELS[name]
    state = {key: value.numpy() for key, value in net.state_dict().items()}
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", shape, dtype)
        again = MODELS[name][0]()
        again.eval()
        results = again(x)
        executor = paddle.static.Executor(paddle.CPUPlace())
        executor.run(startup)
        again.set_state_dict(state)
        paddle.static.save_inference_model(f"{folder}/static_{name}", [x], list(arrays_of(results)), executor, program=main)
    paddle.disable_static()


def arrays_of(results):
    return results if isinstance(results, (list, tuple)) else [results]


def load(folder, names):
    found = {}
    for name in names:
        ways = found[name] = {}
        net = paddle.jit.load(f"{folder}/{name}")
        net.eval()
        ways["jit.load"] = [arrays(net(paddle.to_tensor(x))) for x in batches(name)]
        prefixes = [path for path in (f"{folder}/{name}", f"{folder}/static_{name}") if Path(f"{path}.pdmodel").exists()]
        for way, prefix in zip(("", " of a static program"), prefixes):
            config = paddle.inference.Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")
            predictor = paddle.inference.create_predictor(config)
            ways["inference" + way] = [predicted(predictor, x) for x in batches(name)]
            paddle.enable_static()
            executor = paddle.static.Executor(paddle.CPUPlace())
            program, feeds, fetches = paddle.static.load_inference_model(prefix, executor)
            ways["load_inference_model" + way] = [
                arrays(executor.run(program, feed={feeds[0]: x}, fetch_list=fetches)) for x in batches(name)
            ]
            paddle.disable_static()
    return found


def predicted(predictor, x):
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.reshape(x.shape)
    handle.copy_from_cpu(x)
    predictor.run()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def again(folder, new, names):
    found = {}
    for name in names:
        net = paddle.jit.load(f"{folder}/{name}")
        net.eval()
        paddle.jit.save(net, f"{new}/{name}")
        found[name] = {"again": [arrays(net(paddle.to_tensor(x))) for x in batches(name)]}
    return found


def examples():
    rng = np.random.default_rng(3)
    return {"image": rng.standard_normal((6, 2, 8, 8)).astype("float32"), "label": rng.integers(0, 4, (6, 1))}


def chosen(layer, x):
    """Another net for each step, which follows from what the one before has learned."""
    return paddle.static.nn.cond(paddle.sin(layer.weight.sum() * 50) > 0, lambda: paddle.tanh(layer(x)) + x, lambda: layer(x) * x)


def looped(layer, x):
    """As many rounds as it takes."""
    rounds = paddle.zeros([1], "int64")

    def step(rounds, x):
        return rounds + 1, paddle.tanh(layer(x)) + x * 1.5

    return paddle.static.nn.while_loop(lambda rounds, x: paddle.logical_and(rounds < 6, paddle.abs(x).max() < 6), step, [rounds, x])[1]


def losses(executor, program, loss):
    return [float(np.asarray(executor.run(program, feed=examples(), fetch_list=[loss])[0]).ravel()[0]) for _ in range(3)]


def train(folder, kind="plain"):
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        image, label = paddle.static.data("image", [None, 2, 8, 8]), paddle.static.data("label", [None, 1], "int64")
        net = nn.Sequential(nn.Conv2D(2, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(36, 4))
        said = net(image)
        if kind != "plain":
            net.add_sublayer("more", nn.Linear(4, 4))
            said = {"choice": chosen, "loop": looped}[kind](net[-1], said)
        loss = paddle.nn.functional.cross_entropy(said, label) + (said * said).mean() * 0.01
        paddle.optimizer.Adam(0.01, parameters=net.parameters()).minimize(loss)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    losses(executor, main, loss)
    paddle.static.save(main, f"{folder}/training")
    Path(f"{folder}/loss").write_text(loss.name)
    return losses(executor, main, loss)


def go_on(folder, _kind="plain"):
    paddle.enable_static()
    program = paddle.static.Program.parse_from_string(Path(f"{folder}/training.pdmodel").read_bytes())
    executor = paddle.static.Executor(paddle.CPUPlace())
    paddle.static.load(program, f"{folder}/training", executor)
    return losses(executor, program, Path(f"{folder}/loss").read_text())


STEPS = {"train": train, "go_on": go_on}

if __name__ == "__main__":
    what, folder, *arguments = sys.argv[1:]
    if what == "again":
        found = again(folder, arguments[0], arguments[1:])
        folder = arguments[0]
    else:
        found = {"save": save, "load": load}[what](folder, arguments) if what in ("save", "load") else STEPS[what](folder, *arguments)
    with open(f"{folder}/{what}.pickle", "wb") as file:
        pickle.dump(found, file, protocol=4)
