"""Models: their shapes, gradients, errors, and weights from the network. What they compute is compared with Paddle in tests/parity."""
import hashlib
import http.server
import threading
from typing import ClassVar

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_nn import Identity
from wherry_nn import functional as F
from wherry_train import download, save
from wherry_vision import models
from wherry_vision.models import resnet
from wherry_vision.models.pretrained import with_weights

SMALL = {
    "resnet18": models.resnet18,
    "vgg11": models.vgg11,
    "mobilenet_v1": models.mobilenet_v1,
    "mobilenet_v2": models.mobilenet_v2,
    "mobilenet_v3_small": models.mobilenet_v3_small,
    "mobilenet_v3_large": models.mobilenet_v3_large,
    "alexnet": models.alexnet,
    "squeezenet1_1": models.squeezenet1_1,
    "densenet121": models.densenet121,
    "inception_v3": models.inception_v3,
    "shufflenet_v2_x0_25": models.shufflenet_v2_x0_25,
}


@pytest.mark.parametrize("name", SMALL)
def test_features_have_no_linear_layers_and_keep_the_batch(name):
    model = SMALL[name](num_classes=0)
    model.eval()
    out = model(wt.ones([2, 3, 96, 96]))
    assert out.shape[0] == 2 and len(out.shape) in (2, 4)
    assert not any(key.startswith(("fc", "classifier", "out", "_fc")) for key in model.state_dict())


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_25", "squeezenet1_1"])
def test_every_parameter_gets_a_gradient(name):
    model = SMALL[name](num_classes=3)
    model.eval()  # on an image of one point nothing is left of the mean that is subtracted
    F.cross_entropy(model(wt.randn([2, 3, 64, 64])), wt.to_tensor([0, 2])).backward()
    missing = [key for key, p in model.named_parameters() if not p.stop_gradient and p.grad is None]
    assert not missing


def test_googlenet_has_three_outputs():
    model = models.googlenet(num_classes=5)
    model.eval()
    assert [out.shape for out in model(wt.ones([1, 3, 224, 224]))] == [[1, 5]] * 3


def test_widths_and_groups_of_bottlenecks():
    assert models.resnext50_32x4d(num_classes=0).layer1[0].conv2.weight.shape == [128, 4, 3, 3]
    assert models.wide_resnet50_2(num_classes=0).layer1[0].conv2.weight.shape == [128, 128, 3, 3]


def test_a_class_that_comes_from_resnet_makes_stages_of_its_own():
    class Dilated(resnet.ResNet):
        def __init__(self):
            super().__init__(resnet.BottleneckBlock, 50, num_classes=3)
            self.inplanes = 1024
            self.layer4 = self._make_layer(resnet.BottleneckBlock, 512, 2, stride=2, dilate=True)

    net = Dilated()
    assert net.dilation == 2 and len(net.layer4) == 2 and net.layer4[1].conv1.weight.shape == [512, 2048, 1, 1]
    net.avgpool, net.fc = Identity(), Identity()
    assert net(wt.zeros([1, 3, 64, 64])).shape == [1, 2048 * 4 * 4]  # a stride of 16, not of 32


def test_scales_round_channels_to_multiples_of_eight():
    assert models.mobilenet_v2(scale=0.35, num_classes=0).features[0][0].weight.shape == [16, 3, 3, 3]
    assert models.mobilenet_v3_small(scale=0.5, num_classes=0).conv[0].weight.shape == [8, 3, 3, 3]


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: models.ResNet(resnet.BasicBlock, 20), ValueError, r"depth is not known. Got 20, expected one of \[18, 34, 50, 101, 152\]"),
        (lambda: models.resnet18(num_classes="10"), TypeError, "num_classes is not an int. Got '10'"),
        (lambda: models.SqueezeNet("2.0"), AssertionError, "version is not known. Got '2.0'"),
        (lambda: models.DenseNet(layers=100), AssertionError, "supported layers are"),
        (lambda: models.ShuffleNetV2(scale=3.0), NotImplementedError, "scale size 3.0 is not implemented"),
        (lambda: models.ShuffleNetV2(act="tanh"), RuntimeError, "not supported: 'tanh'"),
        (lambda: resnet.BasicBlock(4, 4, dilation=2), ValueError, "Dilation > 1 not supported"),
        (lambda: models.vgg11(pretrained=True, num_classes=0), ValueError, "vgg11 model do not have a pretrained model now"),
        (lambda: models.mobilenet_v1(pretrained=True, scale=0.5), ValueError, "mobilenetv1_0.5"),
    ],
)
def test_arguments_that_no_model_has_are_refused(make, error, said):
    with pytest.raises(error, match=said):
        make()


class Handler(http.server.BaseHTTPRequestHandler):
    files: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        data = self.files.get(self.path)
        self.send_response(200 if data is not None else 404)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "WEIGHTS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(Handler, "files", {})
    monkeypatch.setattr(Handler, "asked", [])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_pretrained_weights_are_downloaded_once_and_loaded(server, tmp_path):
    trained = models.mobilenet_v3_small(num_classes=4)
    save(trained.state_dict(), tmp_path / "x.pdparams")
    data = (tmp_path / "x.pdparams").read_bytes()
    Handler.files["/x.pdparams"] = data
    weights = {"x": (f"{server}/x.pdparams", hashlib.md5(data).hexdigest())}  # noqa: S324
    for _ in range(2):
        model = with_weights(models.mobilenet_v3_small(num_classes=4), "x", True, weights)
        for key, value in trained.state_dict().items():
            assert bool((model.state_dict()[key] == value).all()), key
    assert Handler.asked == ["/x.pdparams"]
    assert (tmp_path / "home" / "x.pdparams").read_bytes() == data


def test_weights_of_another_digest_are_refused_and_not_kept(server, tmp_path):
    Handler.files["/x.pdparams"] = b"something else"
    with pytest.raises(RuntimeError, match="could not be downloaded. Got a file whose MD5 is .*, expected " + "0" * 32):
        with_weights(models.LeNet(), "x", True, {"x": (f"{server}/x.pdparams", "0" * 32)})
    assert not list((tmp_path / "home").iterdir())


def test_without_a_network_the_error_says_where_the_file_belongs(server, tmp_path):
    home = str(tmp_path / "home")
    with pytest.raises(RuntimeError, match="the answer 404 .* put the file there yourself: " + home.replace("\\", "\\\\")):
        with_weights(models.LeNet(), "x", True, {"x": (f"{server}/none.pdparams", "0" * 32)})
    with pytest.raises(RuntimeError, match="Got no answer .*Connection refused"):
        with_weights(models.LeNet(), "x", True, {"x": ("http://127.0.0.1:9/x.pdparams", "0" * 32)})


def test_what_no_network_can_be_made_of_is_named():
    with pytest.raises(TypeError, match=r"ResNet: block is not a class of blocks\. Got 1, expected BasicBlock"):
        models.ResNet(1, 50)
    for make in (models.mobilenet_v1, models.mobilenet_v2):
        with pytest.raises(ValueError, match="scale: it is not finite.* expected a finite number"):
            make(scale=float("inf"))


@pytest.mark.parametrize("make", [
    models.DenseNet, lambda x: models.ResNet(resnet.BasicBlock, x), models.ShuffleNetV2, lambda x: models.ShuffleNetV2(1.0, x), models.SqueezeNet,
])  # fmt: skip
def test_an_array_is_no_size_of_a_model(make):
    with pytest.raises(Exception, match=r"Got \w+=array|array\(\[1, 2\]\)"):
        make(np.array([1, 2]))
