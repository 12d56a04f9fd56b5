"""What the report says: occupancy by the tables, names that do not change, traffic as the emulator has counted it."""
import shutil

import pytest

from wherry_ops_cuda import building, report


@pytest.mark.parametrize(
    ("architecture", "registers", "shared", "threads", "expected"),
    [
        (90, 32, 0, 256, 1.0),
        (90, 40, 0, 256, 48 / 64),  # 65536 / (40 * 32) = 51 warps, six blocks of eight
        (90, 255, 0, 256, 8 / 64),
        (90, 33, 0, 32, 32 / 64),  # 32 blocks at most
        (80, 32, 40 << 10, 256, 32 / 64),  # 4 blocks of 41 KiB in 164 KiB
        (86, 32, 0, 256, 1.0),
        (75, 64, 0, 256, 1.0),
        (75, 32, 33 << 10, 1024, 1.0),
        (120, 24, 0, 1024, 32 / 48),
    ],
)
def test_occupancy_follows_the_tables(architecture, registers, shared, threads, expected):
    assert report.occupancy(architecture, registers, shared, threads) == expected


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="needs c++filt")
def test_names_of_nvcc_and_gxx_are_the_same_whatever_the_path_of_the_file():
    of_nvcc = "_ZN6wherry4cuda47_GLOBAL__N__3819116f_14_contraction_cu_65e69f758multiplyIlEEvNS1_7ProductEPKT_S6_S6_lPS4_"
    again = "_ZN6wherry4cuda47_GLOBAL__N__00ff00ff_14_contraction_cu_12345678" + "8multiplyIlEEvNS1_7ProductEPKT_S6_S6_lPS4_"
    numbered = "_ZN6wherry4cuda51_GLOBAL__N__00ff00ff_14_contraction_cu_12345678_1238multiplyIlEEvNS1_7ProductEPKT_S6_S6_lPS4_"
    of_gxx = "_ZN6wherry4cuda12_GLOBAL__N_18multiplyIlEEvNS1_7ProductEPKT_S6_S6_lPS4_"
    assert building.kernel_names([of_nvcc, again, numbered, of_gxx]) == ["multiply<long>"] * 4


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("void wherry::cuda::pointwise_1<wherry::cuda::(anonymous namespace)::Cast<float>, int>(int, float*)", "pointwise_1<Cast<float>, int>"),
        ("wherry::cuda::nothing()", "nothing"),
        ("void f<(A)1, void (*)(int)>(int)", "f<(A)1, void (*)(int)>"),
    ],
)
def test_names_end_before_the_parameters(text, name):
    assert building.plain_name(text) == name


def test_instructions_are_counted_by_kind_and_width():
    text = """
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0030*/                   STG.E desc[UR4][R2.64], R4 ;
        /*0040*/             @!UP0 UIADD3 UR4, UR4, 1, URZ ;
        /*1050*/                   NOP ;
    """
    assert report._opcodes(text) == {"LDC": 1, "LDG.128": 1, "HMMA": 1, "STG": 1, "UIADD3": 1}


def test_an_addition_moves_no_byte_twice_and_is_coalesced(gpu, emulator):
    (found,) = (one for one in report.counted(emulator, "add [16384]") if one.case.family == "arithmetic")
    assert found.requested == found.beyond_block == found.traffic == 1.0
    assert found.coalescing == 1.0
    assert report.traffic_table([found], {}, 90).splitlines()[2] == "| arithmetic | add [16384] | 1.00 | 1.00 | 1.00 | 100% |  |"


# Bytes that warps ask for by the least that the call has to move; to be lowered when kernels get better.
MOST = {"elementwise exp": 1.0, "activation gelu": 1.0, "softmax softmax [": 1.0, "softmax softmax_vjp": 1.0, "softmax cross_entropy [": 1.03,
        "normalization layer_norm [": 1.15, "normalization batch_norm [8": 1.1, "optimizer momentum [": 1.05, "optimizer adamax": 1.01,
        "optimizer rmsprop of": 1.01, "optimizer lamb": 1.46, "reduction reduce_sum of rows": 1.02,
        "reduction reduce_sum of columns": 1.0, "extreme reduce_max of columns": 1.0, "arithmetic add [16384]": 1.0, "arithmetic add [8192": 1.13,
        "movement transpose": 1.0, "normalization group_norm [": 1.1, "normalization group_norm_vjp": 1.1, "scan cumsum of rows": 1.0,
        "scan cumsum of columns": 1.0, "scan cumprod of rows": 1.0,
        "pooling max_pool2d 32 channels, 32 x 32, NCHW, 3 x 3": 1.0, "pooling max_pool2d_vjp 32 channels, 32 x 32, NCHW, 3 x 3": 1.0,
        "pooling max_pool2d_vjp 32 channels, 32 x 32, NHWC, 2 x 2": 1.25, "pooling avg_pool2d 32 channels, 32 x 32, NCHW": 1.0,
        "pooling adaptive_avg_pool2d 32 channels, 32 x 32, NCHW": 1.02, "ordering sort of rows": 1.0,
        "reduction reduce_sum of long columns": 1.07, "ordering topk": 1.02}  # fmt: skip


@pytest.mark.parametrize("name", list(MOST))
def test_kernels_that_memory_bounds_ask_for_little_more_than_they_must(gpu, emulator, name):
    (found,) = report.counted(emulator, name)
    assert found.requested <= MOST[name]
    assert found.coalescing > 0.99


def test_tables_join_what_was_compiled_with_what_was_counted(gpu, emulator):
    (found,) = report.counted(emulator, "softmax softmax [")
    (kernel,) = found.kernels
    static = report.Static(building.plain_name(kernel.kernel), 40, 0, 0, 500, {"LDG.128": 2, "HMMA": 1, "FADD": 497})
    row = report.traffic_table([found], {static.name: static}, 90).splitlines()[2]
    seats = report.occupancy(90, 40, kernel.shared_bytes, kernel.block_size)
    assert row.endswith(f"| 40 | {kernel.shared_bytes} | {seats:.0%} | 500 |")
    cells = report.kernel_table([static, static._replace(registers=32)], 90).splitlines()[2].split(" | ")
    assert cells[1:4] == ["2 types", "32 to 40", "0"]
    assert cells[-2:] == ["2", "2 |"]


def test_without_nvidias_tools_the_report_says_which_and_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(report, "_program_folders", list)
    monkeypatch.setenv("PATH", "")
    assert report.main(["--library", str(tmp_path / "none.so")]) == 1
    words = "nvdisasm was not found. Looked in CUDA_HOME, on PATH and among the installed wheels. pip install wherry-ops-cuda[report]"
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("old", "status"), [(40, 0), (39, 1), (None, 1)])
def test_more_registers_than_the_file_says_are_an_error(tmp_path, old, status, capsys):
    from wherry_ops_cuda.__main__ import _compare

    file = tmp_path / "registers.txt"
    file.write_text("" if old is None else f"{old:4d} cast: pointwise_1<Cast<float>, int>\n")
    assert _compare({"cast: pointwise_1<Cast<float>, int>": 40}, file) == status
    name = "cast: pointwise_1<Cast<float>, int>"
    said = capsys.readouterr().err
    assert said.partition("Where")[0] == {40: "", 39: f"{name}: 40 registers, 39 before\n", None: f"{name}: not in {file}\n"}[old]
    assert ("without --check" in said) == bool(status)


# Instructions of tensor cores by operations, and conflicts of banks; to be lowered when kernels get better. Attention's gradients compute the scores
# twice (7 products of 5), and half of a causal tile counts for nothing.
CORES = {"matmul 256 x 128 x 128, float16": 1.0, "matmul 256 x 128 x 128, x turned": 1.0, "attention, 128 queries and keys of 64, float16": 1.0,
         "attention_vjp, 128 queries and keys of 64, float16": 1.4, "attention, 128 queries and keys of 64, causal": 2.0,
         "conv2d 64 to 64 channels, 16 x 16, 3 x 3, NHWC": 1.0, "conv2d_weight_vjp 64 to 64 channels, 16 x 16, 3 x 3, NHWC": 2.0}  # fmt: skip


@pytest.mark.parametrize("name", list(CORES))
def test_tensor_cores_run_no_more_instructions_than_their_operations_take(gpu, emulator, name):
    (found,) = report.counted(emulator, name)
    assert 4096 * found.products / found.case.flops <= CORES[name]
    assert found.conflicts == 1.0
    assert found.coalescing > 0.9  # 3 x 3 weights are turned from pieces of 18 bytes
    assert found.case.name in report.tensor_core_table([found], {})


def test_tables_go_between_the_marks_of_a_document_and_leave_others_alone():
    text = "a\n<!-- report: traffic -->\nold\n<!-- report: end -->\nb\n<!-- report: kernels -->\nkept\n<!-- report: end -->\n"
    assert report.between_marks(text, {"traffic": "| new \\1 |"}) == text.replace("old", "| new \\1 |")
