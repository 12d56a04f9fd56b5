"""How models of known libraries are made: small ones, of random weights, without files from elsewhere.

An entry gives the expression that builds a model, its inputs, and, where a plain call would not do, the expression that calls it. What an
expression names is looked up in the modules that are imported.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LIBRARIES", "Library"]

PICTURE = ("float32[2, 3, 64, 64]",)
LARGER = ("float32[1, 3, 224, 224]",)
WORDS = ("int64[2, 12] < 90",)
TINY = "vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=64"


@dataclass(frozen=True)
class Library:
    """What is known of a library.

    Attributes:
        imports: modules whose names expressions use, in the order in which they are imported.
        models: by name, what the worker is told of each.
        first: folders of packages that go on the path before, as the library expects.
        discover: modules that are looked through for layers that need no arguments.
        inputs: of what is discovered.
    """

    imports: tuple[str, ...]
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    discover: tuple[str, ...] = ()
    inputs: tuple[str, ...] = PICTURE


def _models(entries: dict[str, str], inputs: Sequence[str], **more: Any) -> dict[str, dict[str, Any]]:
    return {name: {"build": build, "inputs": list(inputs), **more} for name, build in entries.items()}


def _made(names: str, inputs: Sequence[str], arguments: str = "", **more: Any) -> dict[str, dict[str, Any]]:
    """Models of classes or functions that all take the same arguments."""
    return _models({name: f"{name}({arguments})" for name in names.split()}, inputs, **more)


def _configured(names: str, config: str = TINY, inputs: Sequence[str] = WORDS, **more: Any) -> dict[str, dict[str, Any]]:
    """Models of PaddleNLP: a class that takes a configuration whose name has the same beginning."""
    return _models({name: f"{name}({name.removesuffix('Model')}Config({config}))" for name in names.split()}, inputs, **more)


_NETS = """
    ResNet18 ResNet50 ResNet18_vd ResNet50_vc SE_ResNet18_vd ResNeXt50_32x4d SE_ResNeXt50_32x4d Res2Net50_26w_4s SENet154_vd
    DenseNet121 DPN68 GhostNet_x0_5 MobileNetV1_x0_25 MobileNetV2_x0_25 MobileNetV3_small_x0_35 ShuffleNetV2_x0_25 SqueezeNet1_1
    HRNet_W18_C DarkNet53 CSPDarkNet53 DLA34 HarDNet68 RegNetX_4GF RepVGG_A0 ReXNet_1_0 RedNet26 EfficientNetB0 PPLCNet_x0_25
    PPLCNetV2_base PPHGNet_tiny ESNet_x0_25 PeleeNet ConvNeXt_tiny VAN_B0 MicroNet_M0
    TinyNet_A
"""
_LARGE_NETS = """
    InceptionV3 Xception41 ViT_small_patch16_224 DeiT_tiny_patch16_224 SwinTransformer_tiny_patch4_window7_224 TNT_small LeViT_128S
    PVT_V2_B0 alt_gvt_small MobileViT_XXS CvT_13_224 FasterNet_T0 PPHGNetV2_B0 AlexNet
"""
_SEGMENTERS = """
    UNet UNetPlusPlus UNet3Plus AttentionUNet ENet SegNet HarDNet BiSeNetV2 FastSCNN SINet LPSNet ESPNetV1 PortraitNet PPHumanSegLite U2Net U2Netp
"""
_WITH_BACKBONE = {
    **dict.fromkeys("ANN CCNet DANet DNLNet EMANet EncNet FastFCN GCNet ISANet PSPNet DMNet".split(), ""), "FCN": ", backbone_indices=(3,)",
}

LIBRARIES = {
    "paddleclas": Library(
        ("ppcls.arch.backbone",), {
            **_made(_NETS, PICTURE, before="from ppcls.utils import logger; logger.init_logger()"),
            **_made(_LARGE_NETS, LARGER, before="from ppcls.utils import logger; logger.init_logger()"),
        }, first=("paddleclas",),
    ),
    "paddleseg": Library(
        ("paddleseg", "paddleseg.models", "paddleseg.models.backbones"),
        {
            **_made(_SEGMENTERS, PICTURE, "num_classes=3"),
            **_models({
                name: f"{name}(num_classes=3, backbone=ResNet50_vd(output_stride=8){more})" for name, more in _WITH_BACKBONE.items()
            }, PICTURE),
            **_models({
                "DeepLabV3": "DeepLabV3(num_classes=3, backbone=ResNet50_vd(output_stride=8, multi_grid=(1, 2, 4)), backbone_indices=(3,))",
                "DeepLabV3P": "DeepLabV3P(num_classes=3, backbone=ResNet50_vd(output_stride=8, multi_grid=(1, 2, 4)), backbone_indices=(0, 3))",
            }, PICTURE),
            **_models({
                "BiSeNetV1": "BiSeNetV1(num_classes=3, backbone=ResNet18_vd(output_stride=32))",
                "OCRNet": "OCRNet(num_classes=3, backbone=HRNet_W18(), backbone_indices=(0,))",
                "SFNet": "SFNet(num_classes=3, backbone=ResNet18_vd(output_stride=8), backbone_indices=(0, 1, 2, 3))",
                "PointRend": "PointRend(num_classes=3, backbone=ResNet50_vd(output_stride=8), backbone_indices=(0, 1, 2, 3))",
                "PPLiteSeg": "PPLiteSeg(num_classes=3, backbone=STDC1())",
                "STDCSeg": "STDCSeg(num_classes=3, backbone=STDC1())",
                "SegFormer": "SegFormer(num_classes=3, backbone=MixVisionTransformer_B0(), embedding_dim=64)",
                "DDRNet_23": "DDRNet_23(num_classes=3)",
                "MobileSeg": "MobileSeg(num_classes=3, backbone=MobileNetV2_x1_0())",
                "HRNet_W18": "FCN(num_classes=3, backbone=HRNet_W18(), backbone_indices=(-1,))",
                "RTFormer": "RTFormer(num_classes=3)",
                "TopFormer": "TopFormer(num_classes=3, backbone=TopTransformer_Tiny())",
                "SegNeXt": "SegNeXt(num_classes=3, backbone=MSCAN_T(), decoder_cfg={'in_channels': [64, 160, 256], 'channels': 64, "
                "'ham_channels': 64, 'ham_kwargs': {'MD_R': 16}})",
            }, ("float32[1, 3, 128, 128]",)),
        },
    ),
    "paddlenlp": Library(
        ("paddlenlp", "paddlenlp.transformers"),
        {
            **_configured("BertModel RobertaModel ErnieModel ErnieMModel RoFormerModel MPNetModel ConvBertModel "
                          "MegatronBertModel FNetModel LayoutLMModel TinyBertModel SkepModel ErnieGramModel BigBirdModel RoFormerv2Model"),
            **_configured("SqueezeBertModel", f"{TINY}, embedding_size=32"),
            **_configured("ElectraModel AlbertModel", f"{TINY}, embedding_size=32"),
            **_configured("GPTModel OPTModel LlamaModel", f"{TINY}"),
            **_configured("BloomModel", "vocab_size=100, hidden_size=32, n_layer=2, n_head=4"),
            **_configured("DistilBertModel RemBertModel NystromformerModel"),
            **_configured("ErnieCtmModel", f"{TINY}, embedding_size=32, cls_num=2", (WORDS[0],)),
            **_configured("ArtistModel"),
            **_configured("CodeGenModel", "vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=64, n_ctx=64, rotary_dim=4"),
            **_configured("XLNetModel", "vocab_size=100, d_model=32, n_layer=2, n_head=4, d_inner=48, d_head=8"),
            **_configured("BlenderbotModel BlenderbotSmallModel PegasusModel", "vocab_size=100, d_model=32, num_encoder_layers=2, "
                          "num_decoder_layers=2, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, "
                          "encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64"),
            **_configured("MT5Model", "vocab_size=100, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4",
                          ("int64[2, 12] < 90", "int64[2, 12] < 90"), call="model(input_ids=inputs[0], decoder_input_ids=inputs[1])"),
            **_configured("UNIMOModel UnifiedTransformerModel", TINY, (WORDS[0], "int64[2, 12] < 2"),
                          call="model(inputs[0], inputs[1], paddle.arange(12).expand([2, 12]), paddle.zeros([2, 1, 12, 12]))"),
            **_configured("BartModel MBartModel", "vocab_size=100, d_model=32, num_encoder_layers=2, num_decoder_layers=2, "
                          "encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64"),
            **_configured("T5Model", "vocab_size=100, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4",
                          ("int64[2, 12] < 90", "int64[2, 12] < 90"), call="model(input_ids=inputs[0], decoder_input_ids=inputs[1])"),
            **_models({
                "BertForSequenceClassification": f"BertForSequenceClassification(BertConfig({TINY}, num_labels=3))",
                "ErnieForTokenClassification": f"ErnieForTokenClassification(ErnieConfig({TINY}, num_labels=3))",
                "RobertaForQuestionAnswering": f"RobertaForQuestionAnswering(RobertaConfig({TINY}))",
                "ErnieForMaskedLM": f"ErnieForMaskedLM(ErnieConfig({TINY}))",
                "GPTLMHeadModel": f"GPTLMHeadModel(GPTConfig({TINY}))",
                "LlamaForCausalLM": f"LlamaForCausalLM(LlamaConfig({TINY}))",
            }, WORDS),
        },
    ),
    "paddledet": Library(
        ("ppdet", "ppdet.modeling.backbones"),
        _models({
            "ResNet": "ResNet(depth=18)", "ResNet_vd_dcn": "ResNet(depth=50, variant='d', dcn_v2_stages=[3])", "DarkNet": "DarkNet()",
            "VGG": "VGG(16)",
            "MobileNet": "MobileNet()", "MobileNetV3": "MobileNetV3()", "HRNet": "HRNet()",
            "LiteHRNet": "LiteHRNet('lite_18')", "BlazeNet": "BlazeNet()",
            "GhostNet": "GhostNet()", "ShuffleNetV2": "ShuffleNetV2()", "LCNet": "LCNet()", "ESNet": "ESNet()", "CSPResNet": "CSPResNet()",
            "CSPDarkNet": "CSPDarkNet()", "Res2Net": "Res2Net()", "SENet": "SENet()", "DLA": "DLA()", "HarDNet": "HarDNet()",
            "ConvNeXt": "ConvNeXt()",
            "SwinTransformer": "SwinTransformer()",
        }, ("float32[1, 3, 64, 64]",), call="model({'image': inputs[0]})"),
    ),
    "ppim": Library(
        ("ppim.models",),
        _made("pit_ti deit_ti cait_xxs_24 swin_ti lvvit_s coat_lite_ti tnt_s pvt_ti hardnet_39_ds cdnv2_a rexnet_1_0 dla_46_c", LARGER),
    ),
    "paddleocr": Library(("paddleocr",)),  # its wheel has no models, only what runs saved ones
    "pgl": Library(
        ("pgl", "pgl.nn"),
        _models({
            "GCNConv": "pgl.nn.GCNConv(8, 4)", "GATConv": "pgl.nn.GATConv(8, 4, num_heads=2)", "GraphSageConv": "pgl.nn.GraphSageConv(8, 4)",
            "APPNP": "pgl.nn.APPNP()", "SGCConv": "pgl.nn.SGCConv(8, 4)", "GINConv": "pgl.nn.GINConv(8, 4)", "SSGCConv": "pgl.nn.SSGCConv(8, 4)",
            "LightGCNConv": "pgl.nn.LightGCNConv()", "TransformerConv": "pgl.nn.TransformerConv(8, 4)", "PinSageConv": "pgl.nn.PinSageConv(8, 4)",
            "NGCFConv": "pgl.nn.NGCFConv(8, 8)", "GATv2Conv": "pgl.nn.GATv2Conv(8, 4, num_heads=2)",
        }, ("float32[5, 8]",), before="graph = pgl.Graph(num_nodes=5, edges=[(0, 1), (1, 2), (3, 4), (4, 0), (2, 0)])\ngraph = graph.tensor()",
            call="model(graph, inputs[0], paddle.ones([5, 1])) if type(model).__name__ == 'PinSageConv' else model(graph, inputs[0])"),
    ),
    "parl": Library(
        ("parl", "parl.algorithms"),
        _models({
            "DQN": "type('M', (parl.Model,), {'__init__': lambda s: (parl.Model.__init__(s), setattr(s, 'f', paddle.nn.Linear(4, 2)))[0], "
            "'forward': lambda s, x: s.f(x)})()",
        }, ("float32[3, 4]",), call="parl.algorithms.DQN(model, gamma=0.9, lr=0.1).predict(inputs[0])"),
    ),
    "paddlespeech": Library(
        ("paddlespeech",),
        {
            **_models({"PWGGenerator": "PWGGenerator(layers=6, stacks=3, upsample_scales=[4, 4])"}, ("float32[1, 1, 256]", "float32[1, 80, 20]"),
                      before="from paddlespeech.t2s.models.parallel_wavegan import PWGGenerator"),
            **_models({"MelGANGenerator": "MelGANGenerator(channels=256)"}, ("float32[1, 80, 10]",),
                      before="from paddlespeech.t2s.models.melgan import MelGANGenerator"),
            **_models({"HiFiGANGenerator": "HiFiGANGenerator(channels=32)"}, ("float32[1, 80, 10]",),
                      before="from paddlespeech.t2s.models.hifigan import HiFiGANGenerator"),
            **_models({"CNN6": "CNN6(extract_embedding=False)"}, ("float32[1, 1, 96, 64]",), before="from paddlespeech.cls.models import CNN6"),
            **_models({"EcapaTdnn": "EcapaTdnn(80, lin_neurons=16, channels=[32, 32, 32, 32, 96])"}, ("float32[2, 80, 40]",),
                      before="from paddlespeech.vector.models.ecapa_tdnn import EcapaTdnn"),
            **_models({"FastSpeech2": "FastSpeech2(idim=20, odim=16, adim=16, elayers=1, eunits=16, dlayers=1, dunits=16)"}, ("int64[7] < 20",),
                      before="from paddlespeech.t2s.models.fastspeech2 import FastSpeech2", call="model.inference(inputs[0])"),
        },
    ),
    "ppdiffusers": Library(
        ("ppdiffusers",),
        {
            **_models({"UNet2DModel": "UNet2DModel(sample_size=16, block_out_channels=(32, 64), layers_per_block=1, down_block_types=('DownBlock2D', "
                       "'AttnDownBlock2D'), up_block_types=('AttnUpBlock2D', 'UpBlock2D'))"}, ("float32[1, 3, 16, 16]",), call="model(inputs[0], 3)"),
            **_models({"UNet2DConditionModel": "UNet2DConditionModel(sample_size=16, block_out_channels=(32, 64), layers_per_block=1, "
                       "cross_attention_dim=16, attention_head_dim=8, down_block_types=('DownBlock2D', 'CrossAttnDownBlock2D'), "
                       "up_block_types=('CrossAttnUpBlock2D', 'UpBlock2D'))"},
                      ("float32[1, 4, 16, 16]", "float32[1, 5, 16]"), call="model(inputs[0], 3, inputs[1])"),
            **_models({"AutoencoderKL": "AutoencoderKL(block_out_channels=(32, 64), down_block_types=('DownEncoderBlock2D', 'DownEncoderBlock2D'), "
                       "up_block_types=('UpDecoderBlock2D', 'UpDecoderBlock2D'), latent_channels=4)"}, ("float32[1, 3, 16, 16]",)),
            **_models({"Transformer2DModel": "Transformer2DModel(num_attention_heads=2, attention_head_dim=8, in_channels=32, num_layers=1)"},
                      ("float32[1, 32, 8, 8]",)),
        },
    ),
    "paddleslim": Library(
        ("paddleslim",),
        _models({"UnstructuredPruner": "paddle.vision.models.LeNet()"}, ("float32[2, 1, 28, 28]",),
                before="from paddleslim.dygraph import L1NormFilterPruner",
                call="(L1NormFilterPruner(model, [2, 1, 28, 28]).prune_vars({model.parameters()[0].name: 0.5}, 0), model(*inputs))[1]"),
    ),
    "x2paddle": Library(("x2paddle",)),
    "visualdl": Library(("visualdl",)),
    "paddle2onnx": Library(("paddle2onnx",)),
    "paddlets": Library(("paddlets",)),
}
