"""Makes the models of this folder, each in an environment that has its exporter; the tests need none of them.

    pip install torch==2.13.0 onnxscript onnx numpy        && python make.py torch
    pip install skl2onnx scikit-learn onnxruntime          && python make.py sklearn
    pip install paddlepaddle==3.3.1 paddle2onnx==2.1.0     && python make.py paddle

Beside each NAME.onnx lies NAME.npz: an input `x` whose batch is another than the one it was exported with, and outputs `y0`, `y1`, ... of
the framework itself (of ONNX Runtime for scikit-learn, which computes in float64).
"""
import os
import sys

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, x, *outputs):
    """Write the data, and the model again without what exporters note of the machine that they ran on."""
    path = f"{HERE}/{name}.onnx"
    model = onnx.load(path)

    def strip(graph):
        for node in graph.node:
            node.doc_string = ""
            del node.metadata_props[:]
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    strip(attribute.g)
        for value in (*graph.value_info, *graph.input, *graph.output):
            del value.metadata_props[:]
        for tensor in graph.initializer:
            del tensor.metadata_props[:]
        del graph.value_info[:]
        del graph.metadata_props[:]
        graph.doc_string = ""

    strip(model.graph)
    for function in model.functions:
        del function.metadata_props[:]
        for node in function.node:
            del node.metadata_props[:]
    del model.metadata_props[:]
    onnx.save(model, path)
    np.savez_compressed(f"{HERE}/{name}.npz", x=x, **{f"y{i}": y for i, y in enumerate(outputs)})


def of_torch():
    import torch
    from torch import nn

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)
            self.embed, self.layers, self.head = nn.Embedding(10, 8), nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(8, 3)

        def forward(self, x):
            return self.head(self.layers(self.embed(x)).mean(1))

    class Images(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Sequential(
                nn.Conv2d(3, 4, 3, padding=1, stride=2), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, groups=2), nn.Hardswish(),
                nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4),
            )

        def forward(self, x):
            return self.f(x)

    class Recurrent(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.r = getattr(nn, kind)(3, 4, 2, bidirectional=True, batch_first=True)

        def forward(self, x):
            return self.r(x)[0]

    class Resized(nn.Module):
        def __init__(self):
            super().__init__()
            self.t, self.c = nn.ConvTranspose2d(4, 3, 3, 2, 1, 1), nn.Conv2d(3, 4, 1)

        def forward(self, x):
            y = nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            return torch.cat([y, self.t(self.c(x))], 1).flatten(2).softmax(-1)

    class Shapes(nn.Module):
        def forward(self, x):
            b, n, d = x.shape
            y = x.view(b, n, 4, d // 4).permute(0, 2, 1, 3)
            y = (y @ y.transpose(-1, -2)).masked_fill(~torch.tril(torch.ones(n, n, dtype=torch.bool)), -1e9)
            return y.softmax(-1).sum(1) + torch.arange(n)[None, :, None]

    class Indices(nn.Module):
        def forward(self, x):
            values, index = x.topk(3, -1)
            return torch.where(values > 0, values, -values).cumsum(-1), index, x.clamp(-1, 1).norm(dim=-1), torch.einsum("bi,bj->bij", x, x)

    class Norms(nn.Module):
        def __init__(self):
            super().__init__()
            self.g, self.i, self.l, self.p = nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True), nn.LayerNorm([6, 6]), nn.PReLU(4)

        def forward(self, x):
            return self.p(self.l(self.i(self.g(x)))) + nn.functional.gelu(x)

    torch.manual_seed(0)
    models = {
        "transformer": (Transformer(), torch.randint(0, 10, (2, 5))), "images": (Images(), torch.randn(2, 3, 16, 16)),
        "lstm": (Recurrent("LSTM"), torch.randn(2, 5, 3)), "gru": (Recurrent("GRU"), torch.randn(2, 5, 3)),
        "resized": (Resized(), torch.randn(2, 3, 6, 6)), "shapes": (Shapes(), torch.randn(2, 5, 8)), "indices": (Indices(), torch.randn(2, 6)),
        "norms": (Norms(), torch.randn(2, 4, 6, 6)),
    }
    for name, (net, x) in models.items():
        net.eval()
        dynamic = {"x": {0: torch.export.Dim.DYNAMIC}}
        path = f"{HERE}/torch_{name}"
        torch.onnx.export(net, (x,), f"{path}_script.onnx", dynamo=False, opset_version=17, dynamic_axes={"x": {0: "b"}}, input_names=["x"])
        torch.onnx.export(net, (x,), f"{path}_export.onnx", dynamo=True, external_data=False, dynamic_shapes=dynamic, input_names=["x"])
        x = torch.cat([x, x[:1]])
        y = net(x)
        for kind in "script", "export":
            save(f"torch_{name}_{kind}", x.numpy(), *(v.detach().numpy() for v in (y if isinstance(y, tuple) else (y,))))


def of_sklearn():
    import onnxruntime
    from skl2onnx import to_onnx
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_iris
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler
    from sklearn.svm import SVR

    x, y = load_iris(return_X_y=True)
    x = x.astype("float32")
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()), "normalized": make_pipeline(Normalizer(), LogisticRegression()),
        "mlp": MLPClassifier((8,), max_iter=300, random_state=0), "forest": RandomForestClassifier(5, max_depth=3, random_state=0),
        "boosting": GradientBoostingRegressor(n_estimators=8, max_depth=2), "svr": SVR(), "kmeans": KMeans(3, random_state=0, n_init=3),
        "bayes": GaussianNB(),
    }
    for name, model in models.items():
        model.fit(x, y)
        found = to_onnx(model, x[:1], options={"zipmap": False} if hasattr(model, "predict_proba") else None, target_opset=17)
        with open(f"{HERE}/sklearn_{name}.onnx", "wb") as file:
            file.write(found.SerializeToString())
        session = onnxruntime.InferenceSession(found.SerializeToString())
        save(f"sklearn_{name}", x[::10], *session.run(None, {session.get_inputs()[0].name: x[::10]}))


def of_paddle():
    import tempfile

    import paddle
    import paddle2onnx
    from paddle import nn

    class Images(nn.Layer):
        def __init__(self):
            super().__init__()
            self.c, self.b, self.l = nn.Conv2D(1, 4, 3, padding=1, stride=2), nn.BatchNorm2D(4), nn.Linear(16, 5)

        def forward(self, x):
            return nn.functional.softmax(self.l(nn.functional.hardswish(nn.functional.adaptive_avg_pool2d(self.b(self.c(x)), 2)).flatten(1)))

    class Words(nn.Layer):
        def __init__(self):
            super().__init__()
            self.e, self.r, self.l = nn.Embedding(20, 4), nn.GRU(4, 4, direction="bidirect"), nn.LayerNorm(8)

        def forward(self, x):
            return self.l(self.r(self.e(x))[0]).max(1)

    paddle.seed(0)
    rng = np.random.default_rng(0)
    models = {
        "images": (Images(), rng.random((3, 1, 16, 16)).astype("float32")), "words": (Words(), rng.integers(0, 20, (3, 6))),
    }
    for name, (net, x) in models.items():
        net.eval()
        with tempfile.TemporaryDirectory() as folder:
            paddle.jit.save(net, f"{folder}/net", input_spec=[paddle.static.InputSpec([None, *x.shape[1:]], str(x.dtype), "x")])
            paddle2onnx.export(f"{folder}/net.json", f"{folder}/net.pdiparams", f"{HERE}/paddle_{name}.onnx", opset_version=15)
        save(f"paddle_{name}", x, net(paddle.to_tensor(x)).numpy())


if __name__ == "__main__":
    {"torch": of_torch, "sklearn": of_sklearn, "paddle": of_paddle}[sys.argv[1]]()
