"""Paths inside Paddle that programs and libraries import from, and what stands after each of them here.

Which file of Paddle holds a name is not part of its interface, yet libraries go through these doors:
`paddle.nn.layer.norm._BatchNormBase`, `paddle.framework.core.VarDesc`, `paddle.utils.download.get_path_from_url`. The
tables below are all that is known of them, and are read when a name is asked for that the facade itself does not have
(`_absent` asks), so that `import wherry` does not load this module.

- `OFFER`: modules that offer every public name of a package.
- `NAMES`: names, public or not, by the module that has them here.
- `REFUSED`: names that cannot mean anything here yet. They can be imported, subclassed and asked for in `isinstance`; calling
  one raises and says what to use instead.
"""
from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, NoneType
from typing import Any

# `package: submodule ... < holder ...`: each submodule has all public names of the holders (left out: of the package itself).
OFFER = """
audio.backends: backend wave_backend
audio.datasets: dataset esc50 tess
audio.features: layers
audio.functional: functional window
amp: accuracy_compare amp_lists auto_cast grad_scaler
autograd: autograd backward_mode py_layer < wherry.autograd
device.cuda: streams
distribution: bernoulli beta categorical cauchy dirichlet distribution exponential_family geometric gumbel independent kl laplace lognormal
distribution: multinomial normal transformed_distribution uniform
geometric: math message_passing message_passing.send_recv reindex sampling sampling.neighbors
hapi: callbacks < wherry.callbacks
hapi: dynamic_flops model model_summary static_flops < wherry_train
hapi: hub < wherry.hub
incubate: operators operators.graph_khop_sampler operators.graph_reindex operators.graph_sample_neighbors operators.graph_send_recv
incubate: operators.softmax_mask_fuse operators.softmax_mask_fuse_upper_triangle tensor tensor.manipulation tensor.math
incubate.asp: asp supported_layer_list utils
incubate.autograd: functional primapi utils
incubate.nn: layer layer.fused_dropout_add layer.fused_ec_moe layer.fused_linear layer.fused_transformer
incubate.nn: loss < wherry.incubate
incubate.nn.functional: fused_transformer
incubate.optimizer: distributed_fused_lamb lbfgs lookahead modelaverage < wherry.incubate wherry.optimizer
incubate.optimizer.functional: bfgs lbfgs
io: dataloader dataloader.batch_sampler dataloader.dataset dataloader.sampler dataloader.worker reader
jit: api dy2static dy2static.program_translator layer translated_layer
metric: metrics
nn: clip decode loss
nn.functional: activation common conv distance extension input loss norm pooling transformer vision
nn.initializer: assign constant dirac initializer kaiming normal orthogonal uniform xavier
nn.initializer: lazy_init < wherry_nn.lazy
nn.layer: activation common container conv distance layers loss norm pooling rnn transformer vision < wherry_nn
nn.quant: functional_layers lsq qat quant_layers quantized_linear stub
nn.utils: dygraph_utils spectral_norm_hook weight_norm_hook transform_parameters
optimizer: adadelta adagrad adam adamax adamw lamb lbfgs momentum optimizer rmsprop sgd
profiler: profiler_statistic utils timer
quantization: base_observer base_quanter config ptq qat
quantization: factory < wherry_quant.factory
quantization: imperative imperative.ptq imperative.ptq_config imperative.ptq_quantizer imperative.qat < wherry_quant.imperative
quantization: observers observers.abs_max observers.groupwise < wherry_quant.observers
quantization: quanters quanters.abs_max < wherry_quant.quanters
reader: decorator
sparse: binary creation multiary unary
sparse.nn: layer layer.activation layer.conv layer.norm layer.pooling
sparse.nn.functional: activation conv pooling transformer
static: input io
static.amp: amp_nn decorator fp16_lists fp16_utils
static.nn: common control_flow sequence_lod
static.nn: loss metric < wherry.static.nn wherry.static
tensor: array attribute creation einsum logic manipulation math ops random search stat tensor to_string < wherry_tensor
tensor: linalg < wherry_tensor wherry.linalg
utils: install_check
utils.cpp_extension: cpp_extension extension_utils
vision.datasets: cifar flowers folder mnist voc2012
vision.transforms: transforms functional_cv2 functional_pil functional_tensor < wherry.vision.transforms wherry.vision.transforms.functional
framework: framework ir < wherry.static wherry.framework
base: backward compiler executor < wherry.static
base: initializer < wherry.nn.initializer
base: io < wherry.static
base: lod_tensor < wherry.static
base: param_attr < wherry_nn
base: reader < wherry.io
base.dygraph: math_op_patch tensor_patch_methods tracer
"""

# `path: name ... < module`: names of a path, in the module that has them here; `theirs=ours` where the two differ, `name=*` is the
# module itself.
NAMES = """
: paddle=* < wherry
: core=* < wherry._inside.core
: _C_ops=* < wherry._inside.c_ops
: _legacy_C_ops=* < wherry._inside.legacy_c_ops
: __git_commit__=commit < wherry._inside.commit
amp.auto_cast: AMPGlobalState AMP_LEVEL amp_global_state amp_state _in_amp_guard _in_pure_fp16_guard < wherry._inside.modes
amp.auto_cast: amp_decorate amp_guard auto_cast decorate < wherry_train.amp
amp.debugging: DebugMode check_numerics < wherry._inside.debugging
base: core=* < wherry._inside.core
base: framework=* < wherry._inside.framework
base.libpaddle: DataType=dtype < wherry
base: data_feeder=* < wherry._inside.checks
base: layer_helper=* < wherry._inside.helper
base.layer_helper_base: LayerHelperBase=LayerHelper < wherry._inside.helper
base: unique_name=* < wherry.utils.unique_name
base: dygraph=* < wherry._inside.dygraph
base: CPUPlace CUDAPinnedPlace CUDAPlace CustomPlace XPUPlace IPUPlace get_flags set_flags is_compiled_with_cinn < wherry
base: is_compiled_with_cuda is_compiled_with_rocm is_compiled_with_xpu Tensor disable_dygraph=enable_static enable_dygraph=disable_static < wherry
base: disable_imperative=enable_static enable_imperative=disable_static < wherry
base: BuildStrategy CompiledProgram ExecutionStrategy Executor LoDTensor Program Scope Variable append_backward create_lod_tensor < wherry.static
base: cpu_places cuda_places xpu_places default_main_program default_startup_program device_guard global_scope gradients < wherry.static
base: ipu_shard_guard name_scope program_guard scope_guard set_ipu_shard IpuCompiledProgram IpuStrategy WeightNormParamAttr < wherry.static
base: ParamAttr < wherry_nn
base: in_dygraph_mode=in_dynamic_mode in_dynamic_or_pir_mode=in_dynamic_mode < wherry
base: in_pir_mode < wherry._inside.modes
base: set_global_initializer < wherry.nn.initializer
base: require_version < wherry.utils
base.dygraph: base=* < wherry._inside.dygraph
base.log_helper: get_logger < wherry._inside.logs
static.log_helper: get_logger < wherry._inside.logs
base.wrapped_decorator: wrap_decorator signature_safe_contextmanager < wherry._inside.decorators
common_ops_import: LayerHelper < wherry._inside.helper
common_ops_import: Variable default_main_program device_guard < wherry.static
common_ops_import: check_dtype check_type check_variable_and_dtype convert_dtype < wherry._inside.checks
common_ops_import: core=* < wherry._inside.core
common_ops_import: VarDesc < wherry._inside.core
common_ops_import: ParamAttr < wherry_nn
common_ops_import: OpProtoHolder _create_tensor _dygraph_tracer convert_np_dtype_to_dtype_ dygraph_only in_dygraph_mode < wherry._inside.framework
common_ops_import: templatedoc < wherry._inside.decorators
dataset.common: DATA_HOME cluster_files_reader download md5file must_mkdirs split < wherry._inside.readers
dataset.mnist: train=mnist_train test=mnist_test < wherry._inside.readers
dataset.cifar: train10=cifar_train10 test10=cifar_test10 train100=cifar_train100 test100=cifar_test100 < wherry._inside.readers
dataset.uci_housing: train=housing_train test=housing_test < wherry._inside.readers
dataset.imdb: train=imdb_train test=imdb_test word_dict=imdb_word_dict < wherry._inside.readers
dataset.imikolov: train=imikolov_train test=imikolov_test build_dict=imikolov_build_dict < wherry._inside.readers
device: _convert_to_place < wherry._inside.framework
device: framework=* < wherry._inside.framework
device: core=* < wherry._inside.core
distributed: ParallelMode < wherry_distributed.topology
distributed: io=* < wherry.static
distributed: fleet=* < wherry._inside.fleet
distributed: split < wherry_distributed.tensor_parallel
distributed: rpc=* < wherry_distributed.rpc
distributed.rpc: WorkerInfo get_all_worker_infos get_current_worker_info get_worker_info init_rpc rpc_async rpc_sync < wherry_distributed.rpc
distributed.rpc: shutdown < wherry_distributed.rpc
distributed.collective: _c_concat _c_identity _c_lookup_table _c_softmax_with_cross_entropy _c_split _mp_allreduce < wherry_distributed.model_parallel
distributed.collective: Group _get_default_group=get_group _get_global_group=get_group barrier new_group < wherry_distributed
distributed.collective: all_gather all_reduce alltoall broadcast get_group is_initialized < wherry_distributed
distributed.collective: recv reduce scatter send wait ReduceOp < wherry_distributed
distributed.collective: split < wherry_distributed.tensor_parallel
distributed.checkpoint.load_state_dict: load_state_dict < wherry_distributed.checkpoint
distributed.checkpoint.save_state_dict: save_state_dict < wherry_distributed.checkpoint
distributed.communication: stream=* < wherry_distributed.stream
distributed.communication.group: Group barrier get_backend get_group is_initialized wait _get_global_group=get_group < wherry_distributed
distributed.communication.batch_isend_irecv: P2POp batch_isend_irecv < wherry_distributed
distributed.communication.batch_isend_irecv: _with_batch_p2p_guard < wherry._inside.alone
distributed.parallel: DataParallel ParallelEnv get_rank get_world_size init_parallel_env is_initialized < wherry_distributed
distributed.parallel: Group sync_params_buffers < wherry_distributed
distributed.parallel_helper: _is_parallel_ctx_initialized < wherry._inside.alone
distributed.parallel.parallel_helper: _is_parallel_ctx_initialized < wherry._inside.alone
distributed.sharding: group_sharded_parallel save_group_sharded_model < wherry_distributed.sharding
distributed.sharding.group_sharded: group_sharded_parallel save_group_sharded_model < wherry_distributed.sharding
distributed: group_sharded_parallel save_group_sharded_model < wherry_distributed.sharding
distributed.utils.log_utils: get_logger < wherry._inside.logs
distributed.fleet: fleet < wherry_distributed.fleet
distributed.fleet: launch=* < wherry.distributed.launch
distributed.fleet: metrics=* < wherry_distributed.fleet.metrics
distributed.fleet.base.distributed_strategy: DistributedStrategy < wherry_distributed.fleet
distributed.fleet.base.role_maker: PaddleCloudRoleMaker Role UserDefinedRoleMaker < wherry_distributed.fleet
distributed.fleet.base.topology: CommunicateTopology HybridCommunicateGroup ParallelMode < wherry_distributed.topology
distributed.fleet.base.util_factory: UtilBase < wherry_distributed.fleet
distributed.fleet.data_generator: DataGenerator MultiSlotDataGenerator MultiSlotStringDataGenerator < wherry_distributed.data_generator
distributed.fleet.data_generator.data_generator: DataGenerator MultiSlotDataGenerator < wherry_distributed.data_generator
distributed.fleet.data_generator.data_generator: MultiSlotStringDataGenerator < wherry_distributed.data_generator
distributed.fleet.dataset: DatasetBase InMemoryDataset QueueDataset < wherry_distributed.datasets
distributed.fleet.layers.mpu: ColumnParallelLinear ParallelCrossEntropy RowParallelLinear VocabParallelEmbedding < wherry_distributed.tensor_parallel
distributed.fleet.layers.mpu: RNGStatesTracker get_rng_state_tracker model_parallel_random_seed < wherry_distributed.random_states
distributed.fleet.layers.mpu.mp_layers: ColumnParallelLinear ParallelCrossEntropy < wherry_distributed.tensor_parallel
distributed.fleet.layers.mpu.mp_layers: RowParallelLinear VocabParallelEmbedding < wherry_distributed.tensor_parallel
distributed.fleet.layers.mpu.mp_ops: _c_concat _c_identity _c_lookup_table _c_softmax_with_cross_entropy < wherry_distributed.model_parallel
distributed.fleet.layers.mpu.mp_ops: _c_split _mp_allreduce < wherry_distributed.model_parallel
distributed.fleet.layers.mpu.mp_ops: split < wherry_distributed.tensor_parallel
distributed.fleet.layers.mpu.random: RNGStatesTracker get_rng_state_tracker model_parallel_random_seed < wherry_distributed.random_states
distributed.fleet.meta_optimizers: DygraphShardingOptimizer HybridParallelOptimizer HybridParallelGradScaler < wherry_distributed.fleet.optimizers
distributed.fleet.meta_optimizers.dygraph_optimizer: DygraphShardingOptimizer HybridParallelOptimizer < wherry_distributed.fleet.optimizers
distributed.fleet.meta_optimizers.dygraph_optimizer: HybridParallelGradScaler < wherry_distributed.fleet.optimizers
distributed.fleet.meta_optimizers.dygraph_optimizer.dygraph_sharding_optimizer: DygraphShardingOptimizer < wherry_distributed.fleet.optimizers
distributed.fleet.meta_optimizers.dygraph_optimizer.hybrid_parallel_optimizer: HybridParallelOptimizer < wherry_distributed.fleet.optimizers
distributed.fleet.meta_parallel: RNGStatesTracker get_rng_state_tracker model_parallel_random_seed < wherry_distributed.random_states
distributed.fleet.meta_parallel: ColumnParallelLinear ParallelCrossEntropy < wherry_distributed.tensor_parallel
distributed.fleet.meta_parallel: RowParallelLinear VocabParallelEmbedding < wherry_distributed.tensor_parallel
distributed.fleet.meta_parallel: LayerDesc PipelineLayer SharedLayerDesc PipelineParallel PipelineParallelWithInterleave < wherry_distributed.pipeline
distributed.fleet.meta_parallel: ShardingParallel SegmentParallel TensorParallel < wherry_distributed.wrappers
distributed.fleet.meta_parallel.parallel_layers.mp_layers: ColumnParallelLinear ParallelCrossEntropy < wherry_distributed.tensor_parallel
distributed.fleet.meta_parallel.parallel_layers.mp_layers: RowParallelLinear VocabParallelEmbedding < wherry_distributed.tensor_parallel
distributed.fleet.meta_parallel.parallel_layers: LayerDesc PipelineLayer SharedLayerDesc < wherry_distributed.pipeline
distributed.fleet.meta_parallel.parallel_layers.pp_layers: LayerDesc PipelineLayer SharedLayerDesc < wherry_distributed.pipeline
distributed.fleet.meta_parallel.parallel_layers.random: RNGStatesTracker get_rng_state_tracker < wherry_distributed.random_states
distributed.fleet.meta_parallel.parallel_layers.random: model_parallel_random_seed < wherry_distributed.random_states
distributed.fleet.meta_parallel.pipeline_parallel: PipelineParallel PipelineParallelWithInterleave < wherry_distributed.pipeline
distributed.fleet.meta_parallel.sharding.group_sharded_optimizer_stage2: GroupShardedOptimizerStage2 < wherry_distributed.sharding
distributed.fleet.meta_parallel.sharding.group_sharded_stage2: GroupShardedStage2 < wherry_distributed.sharding
distributed.fleet.meta_parallel.sharding.group_sharded_stage3: GroupShardedStage3 < wherry_distributed.sharding
distributed.fleet.meta_parallel.sharding.group_sharded_utils: GroupShardedScaler=HybridParallelGradScaler < wherry_distributed.fleet.optimizers
distributed.fleet.recompute: recompute recompute_hybrid recompute_sequential < wherry_distributed.recomputing
distributed.fleet.recompute.recompute: check_recompute_necessary recompute recompute_sequential < wherry_distributed.recomputing
distributed.fleet.recompute.recompute_hybrid: recompute_hybrid < wherry_distributed.recomputing
distributed.fleet.utils: recompute < wherry_distributed.recomputing
distributed.fleet.utils: HDFSClient LocalFS < wherry_distributed.fleet
distributed.fleet.utils.fs: ExecuteError FSFileExistsError FSFileNotExistsError FSTimeOut HDFSClient LocalFS < wherry_distributed.fleet.files
distributed.fleet.utils.hybrid_parallel_util: fused_allreduce_gradients unwrap_optimizer < wherry_distributed.fleet.parameters
distributed.fleet.utils.hybrid_parallel_util: obtain_optimizer_parameters_list < wherry_distributed.fleet.parameters
distributed.fleet.utils.hybrid_parallel_util: fused_allreduce_gradients_with_group < wherry_distributed.parallel
distributed.fleet.utils.hybrid_parallel_util: broadcast_dp_parameters broadcast_input_data broadcast_mp_parameters < wherry_distributed.wrappers
distributed.fleet.utils.hybrid_parallel_util: broadcast_sep_parameters broadcast_sharding_parameters < wherry_distributed.wrappers
distributed.fleet.utils.mix_precision_utils: MixPrecisionLayer MixPrecisionOptimizer MixPrecisionScaler < wherry_distributed.mixed_precision
distributed.fleet.utils.log_util: logger set_log_level=set_level < wherry._inside.logs
distributed.fleet.utils.sequence_parallel_utils: AllGatherOp GatherOp ReduceScatterOp ScatterOp < wherry_distributed.sequence_parallel
distributed.fleet.utils.sequence_parallel_utils: ColumnSequenceParallelLinear RowSequenceParallelLinear < wherry_distributed.sequence_parallel
distributed.fleet.utils.sequence_parallel_utils: all_gather=all_gather_sequence < wherry_distributed.sequence_parallel
distributed.fleet.utils.sequence_parallel_utils: reduce_scatter=reduce_scatter_sequence < wherry_distributed.sequence_parallel
distributed.fleet.utils.sequence_parallel_utils: is_sequence_parallel_parameter scatter < wherry_distributed.sequence_parallel
distributed.fleet.utils.sequence_parallel_utils: mark_as_sequence_parallel_parameter < wherry_distributed.sequence_parallel
distributed.fleet.utils.sequence_parallel_utils: register_sequence_parallel_allreduce_hooks < wherry_distributed.sequence_parallel
distributed.fleet.utils.timer_helper: get_timers set_timers < wherry_distributed.fleet.utility
framework: LayerHelper < wherry._inside.helper
framework: core=* < wherry._inside.core
framework: dtype < wherry
framework.dtype: dtype bfloat16 complex128 complex64 finfo float16 float32 float64 iinfo int16 int32 int64 int8 uint8 bool < wherry
framework: io=* < wherry._inside.files
framework: io_utils=* < wherry._inside.files
framework.random: get_cuda_rng_state get_rng_state seed set_cuda_rng_state set_rng_state < wherry
framework.random: _manual_program_seed=seed < wherry
framework: Block Program < wherry._inside.framework
framework: OpProtoHolder _create_tensor _current_expected_place _current_expected_place_ _dygraph_tracer _get_paddle_place < wherry._inside.framework
framework: _no_check_dy2st_diff _global_flags _set_expected_place < wherry._inside.framework
framework: convert_np_dtype_to_dtype_ dygraph_only dygraph_not_support < wherry._inside.framework
framework: is_parameter is_persistable use_pir_api in_pir_mode in_dynamic_or_pir_mode to_variable < wherry._inside.framework
framework: disable_signal_handler disable_static enable_static < wherry
framework: deprecate_stat_dict < wherry._inside.framework
hapi: logger=* < wherry._inside.logs
hapi.progressbar: ProgressBar < wherry._inside.hapi
hapi.model: Input=InputSpec < wherry.static
hapi.model: _all_gather extract_args flatten_list restore_flatten_list to_list to_numpy < wherry._inside.hapi
incubate.nn: memory_efficient_attention=* < wherry._inside.attention
incubate.distributed.models.moe: MoELayer GShardGate NaiveGate SwitchGate < wherry_distributed.experts
incubate.distributed.models.moe.gate: GShardGate NaiveGate SwitchGate < wherry_distributed.experts
incubate.distributed.models.moe.moe_layer: MoELayer < wherry_distributed.experts
incubate.optimizer: LarsMomentumOptimizer=LarsMomentum < wherry_distributed.fleet.compression
incubate.layers: shuffle_batch < wherry._inside.batches
io.dataloader.collate: default_collate_fn < wherry_train.io.collate
io.dataloader.collate: default_convert_fn < wherry._inside.batches
jit.layer: Layer=TranslatedLayer < wherry.jit
jit.dy2static: convert_to_static=converted_function < wherry_graph.jit.convert
jit.dy2static.program_translator: ConcreteProgram < wherry_graph.jit.static_function
jit.dy2static.program_translator: convert_to_static=converted_function < wherry_graph.jit.convert
nn.clip: ClipGradBase < wherry_nn.clip
nn.clip: _squared_l2_norm < wherry._inside.clips
nn.decode: Decoder < wherry_nn.layers.decode
nn.initializer: ConstantInitializer=Constant UniformInitializer=Uniform NormalInitializer=Normal < wherry.nn.initializer
nn.initializer: TruncatedNormalInitializer=TruncatedNormal < wherry.nn.initializer
nn.initializer: XavierInitializer MSRAInitializer < wherry._inside.initializers
nn.initializer: BilinearInitializer=Bilinear NumpyArrayInitializer=Assign < wherry.nn.initializer
nn.layer.common: _convert_dtype=convert_dtype < wherry._inside.checks
nn.layer.conv: _ConvNd=_Convolution < wherry_nn.layers.conv
nn.layer.layers: HookRemoveHelper < wherry_nn.layer
nn.layer.layers: in_declarative_mode=in_to_static_mode in_to_static_mode < wherry._inside.modes
nn.layer.layers: Parameter ParamAttr < wherry_nn
nn.layer.norm: _BatchNormBase _InstanceNormBase=_InstanceNorm < wherry_nn.layers.norm
nn.layer.rnn: RNNBase RNNCellBase < wherry_nn.layers.rnn
nn.layer.transformer: _convert_attention_mask _convert_param_attr_to_list < wherry._inside.attention
nn.functional.activation: tanh < wherry_tensor
nn.quant: FloatFunctionalLayer add concat divide flatten matmul multiply reshape subtract transpose < wherry_quant.functional
nn.quant.functional_layers: FloatFunctionalLayer add concat divide flatten matmul multiply < wherry_quant.functional
nn.quant.functional_layers: reshape subtract transpose < wherry_quant.functional
nn.quant.format: ConvertibleQuantedLayer LinearDequanter LinearQuanter LinearQuanterDequanter < wherry_quant.format
nn.quant.qat: QuantedConv2D QuantedLinear < wherry_quant.layers
nn.quant.qat.conv: QuantedConv2D < wherry_quant.layers
nn.quant.qat.linear: QuantedLinear < wherry_quant.layers
nn.quant.stub: QuanterStub < wherry_quant.layers
quantization.config: SingleLayerConfig < wherry_quant.config
quantization.observers: AbsmaxObserverLayer GroupWiseWeightObserverLayer < wherry_quant.observers
quantization.observers.abs_max: AbsmaxObserverLayer < wherry_quant.observers
quantization.observers.groupwise: GroupWiseWeightObserverLayer < wherry_quant.observers
quantization.quanters: FakeQuanterWithAbsMaxObserverLayer < wherry_quant.quanters
quantization.quanters.abs_max: FakeQuanterWithAbsMaxObserverLayer < wherry_quant.quanters
quantization.quantize: Quantization < wherry_quant.quantizing
quantization.wrapper: ObserveWrapper < wherry_quant.layers
static: load_vars save_vars setitem < wherry._inside.variables
static.io: load_vars save_vars < wherry._inside.variables
framework: IrGraph < wherry_quant.transforming
base.framework: IrGraph < wherry_quant.transforming
static.quantization: QuantizationFreezePass QuantizationTransformPass < wherry_quant.transforming
static.quantization.quantization_pass: QuantizationFreezePass QuantizationTransformPass < wherry_quant.transforming
static.quantization: AddQuantDequantForInferencePass AddQuantDequantPass AddQuantDequantPassV2 < wherry_quant.transforming_others
static.quantization: ConvertToInt8Pass OutScaleForInferencePass OutScaleForTrainingPass < wherry_quant.transforming_others
static.quantization: QuantWeightPass QuantizationTransformPassV2 < wherry_quant.transforming_others
static.quantization.quantization_pass: AddQuantDequantForInferencePass AddQuantDequantPass AddQuantDequantPassV2 < wherry_quant.transforming_others
static.quantization.quantization_pass: ConvertToInt8Pass OutScaleForInferencePass OutScaleForTrainingPass < wherry_quant.transforming_others
static.quantization.quantization_pass: QuantWeightPass QuantizationTransformPassV2 < wherry_quant.transforming_others
static.quantization: WeightQuantization < wherry_quant.weights_of_files
static.quantization.post_training_quantization: WeightQuantization < wherry_quant.weights_of_files
framework.core: Graph < wherry_quant.transforming
base.core: Graph < wherry_quant.transforming
static.quantization: PostTrainingQuantization < wherry_quant.post_training
static.quantization.post_training_quantization: PostTrainingQuantization < wherry_quant.post_training
static.quantization: PostTrainingQuantizationProgram < wherry_quant.post_training_program
static.quantization.post_training_quantization: PostTrainingQuantizationProgram < wherry_quant.post_training_program
static.quantization: quant_config=* < wherry._inside.quant_config
tensor: array_length array_read array_write create_array < wherry._inside.arrays
tensor: cholesky_inverse cholesky_solve cond corrcoef cov eig eigh eigvals householder_product lstsq lu lu_solve lu_unpack < wherry.linalg
tensor: matrix_power ormqr pca_lowrank pinv qr slogdet solve svd svd_lowrank svdvals < wherry.linalg
tensor: create_parameter < wherry_nn
tensor: create_tensor < wherry._later_methods
tensor: fill_constant < wherry_tensor.functions.conversions
tensor: top_p_sampling < wherry_tensor.methods
tensor: vecdot < wherry.linalg
tensor: istft stft < wherry.signal
tensor: softmax < wherry_nn.compat
tensor: random_ < wherry_tensor.functions.draws
tensor: resize_ set_ < wherry_tensor.shared_methods
nn.functional.flash_attention: LayerHelper < wherry._inside.helper
nn.functional.flash_attention: in_dynamic_or_pir_mode < wherry._inside.framework
nn.functional.flash_attention: signature_safe_contextmanager < wherry._inside.decorators
tensor.array: array_length array_read array_write create_array < wherry._inside.arrays
tensor.creation: create_parameter < wherry_nn
utils: assert_same_structure convert_to_list flatten is_sequence map_structure pack_sequence_as to_sequence < wherry._inside.structures
utils.layers_utils: assert_same_structure convert_to_list flatten is_sequence map_structure pack_sequence_as to_sequence < wherry._inside.structures
utils: flops < wherry_train
utils.lazy_import: try_import < wherry.utils
utils.inplace_utils: inplace_apis_in_dygraph_only < wherry._inside.decorators
utils.cpp_extension.cpp_extension: CUDA_HOME IS_WINDOWS < wherry._inside.extensions
utils.cpp_extension.extension_utils: CUDA_HOME IS_WINDOWS _import_module_from_library _jit_compile find_cuda_home < wherry._inside.extensions
utils.download: DOWNLOAD_RETRY_LIMIT WEIGHTS_HOME _decompress _download _get_unique_endpoints _map_path _md5check < wherry._inside.downloads
utils.download: get_path_from_url is_url logger < wherry._inside.downloads
utils.unique_name: generate_with_ignorable_key=generate < wherry_nn.unique_name
version: commit istaged with_mkl < wherry._inside.commit
vision.transforms: functional=* < wherry.vision.transforms.functional
vision.transforms.functional: _is_numpy_image _is_pil_image _is_tensor_image < wherry._inside.pictures
vision.transforms.functional: adjust_saturation < wherry_vision.transforms.functional
vision.transforms.transforms: _check_input _get_image_size < wherry._inside.pictures
"""

_SEVERAL = "training in several processes is not there yet. In one process, run the model as it is"
_SERVERS = "parameter servers here have no part of this name. Use static.nn.sparse_embedding, InMemoryDataset and QueueDataset"
_QUANTIZED = (
    "this part of Paddle's older quantization is not there. Train with paddle.quantization.QAT or ImperativeQuantAware, calibrate saved models with "
    "paddle.static.quantization.PostTrainingQuantization, and give weights few bits with paddle.quant.quantize_weights"
)
_CHECKER = "the checker of numbers is not there yet. Use FLAGS_check_nan_inf, or paddle.amp.debugging.check_numerics"
_INNER = "Paddle's inner program descriptions are not kept. Use paddle.static.Program"

# `path: name ... < advice`: classes whose instances cannot be made, which are functions too.
REFUSED: tuple[tuple[str, str], ...] = (
    (_SEVERAL, """
distributed.fleet.recompute.recompute: switch_rng_state_tracker
distributed: DistAttr Strategy gloo_barrier
distributed: gloo_init_parallel_env gloo_release
distributed: shard_op to_static
distributed.fleet.meta_optimizers.dygraph_optimizer.dygraph_sharding_optimizer: DygraphShardingOptimizerV2
distributed.fleet.meta_optimizers.dygraph_optimizer.hybrid_parallel_optimizer: HybridParallelClipGrad
distributed.fleet.meta_parallel.parallel_layers.pp_layers: PipelineLayerChunk
distributed.fleet.meta_parallel.sharding.group_sharded_utils: GroupShardedClipGrad
distributed.fleet.utils.tensor_fusion_helper: FusedCommBuffer HOOK_ACTION
distributed.fleet.utils.hybrid_parallel_inference: HybridParallelInferenceHelper
"""),
    (_SERVERS, """
distributed: BoxPSDataset
distributed.fleet.dataset: FileInstantDataset TreeIndex
distributed.fleet.proto.index_dataset_pb2: IndexNode KVItem TreeMeta
distributed.fleet.utils: DistributedInfer
distributed.fleet.utils.ps_util: DistributedInfer
incubate.operators: unzip
static.nn: continuous_value_model
"""),
    (_QUANTIZED, """
nn.quant: QuantizedConv2D QuantizedLinear quant_layers_
nn.quant.lsq: FakeQuantActLSQPlus FakeQuantWeightLSQPlus
nn.quant.quant_layers: FakeQuantAbsMax FakeQuantChannelWiseAbsMax FakeQuantMAOutputScaleLayer FakeQuantMovingAverageAbsMax MAOutputScaleLayer
nn.quant.quant_layers: MovingAverageAbsMaxScale QuantStub QuantizedColumnParallelLinear QuantizedConv2D QuantizedConv2DTranspose QuantizedLinear
nn.quant.quant_layers: QuantizedMatmul QuantizedRowParallelLinear
static.quantization: ReplaceFakeQuantDequantPass TransformForMobilePass
static.quantization.utils: _channelwise_quant_axis1_ops _get_input_name_index _get_op_input_var_names _get_op_output_var_names
static.quantization.utils: _get_output_name_index bias_correction_w calculate_quant_cos_error load_variable_data quant_tensor set_variable_data
static.quantization.utils: stable_sigmoid tqdm dequant_tensor
"""),
    (_CHECKER, """
amp.debugging: TensorCheckerConfig check_layer_numerics collect_operator_stats compare_accuracy disable_operator_stats_collection
amp.debugging: disable_tensor_checker enable_operator_stats_collection enable_tensor_checker
"""),
    (_INNER, """
base.framework: IrNode IrOpNode IrVarNode
base.core: PassBuilder
pir: Block Operation OpResult PassManager Program Value translate_to_pir
pir.core: Program create_parameter default_main_program default_startup_program program_guard
pir_utils: IrGuard test_with_pir_api
decomposition: decompose
autograd.ir_backward: calc_gradient grad
jit.sot: symbolic_translate
cost_model: CostModel
cost_model.cost_model: CostModel
static.amp.bf16: bf16_guard convert_model_to_bf16 decorate_bf16
io.dataloader.dataloader_iter: _DataLoaderIterBase _DataLoaderIterMultiProcess _DataLoaderIterSingleProcess
io.dataloader.fetcher: _IterableDatasetFetcher _MapDatasetFetcher
"""),
)


# What nearly every file of Paddle imports, and programs take from there: `from paddle.vision.ops import _C_ops`.
IMPORTED = """
: paddle=* < wherry
: nn=* < wherry.nn
: F=* < wherry.nn.functional
: core=* < wherry._inside.core
: framework=* < wherry._inside.framework
: _C_ops=* < wherry._C_ops
: _legacy_C_ops=* < wherry._inside.legacy_c_ops
: unique_name=* < wherry.utils.unique_name
: LayerHelper < wherry._inside.helper
: check_dtype check_type check_variable_and_dtype convert_dtype < wherry._inside.checks
: in_dygraph_mode in_dynamic_or_pir_mode in_pir_mode convert_np_dtype_to_dtype_ < wherry._inside.framework
: _create_tensor _current_expected_place _dygraph_tracer _get_paddle_place _global_flags < wherry._inside.framework
: in_dynamic_mode no_grad ParamAttr < wherry
: Layer < wherry.nn
: Program Variable default_main_program default_startup_program device_guard global_scope name_scope program_guard < wherry.static
"""
# Of packages that are one file of Paddle, or whose __init__ is such a file; and packages whose modules are the files.
FILES = frozenset("amp device fft metric regularizer signal".split())
PACKAGES = frozenset("""
    audio.features base.dygraph distributed.fleet distribution.distribution incubate.nn incubate.nn.functional incubate.optimizer io.dataloader
    jit.dy2static nn.functional nn.initializer nn.layer nn.quant nn.utils sparse.nn sparse.nn.functional static.nn utils.cpp_extension
    vision.datasets vision.models vision.transforms
""".split())


class Door:
    """What stands behind one path: where its names are, and the modules below it."""

    __slots__ = ("below", "holders", "names")

    def __init__(self) -> None:
        self.names: dict[str, Callable[[], Any]] = {}
        self.holders: list[str] = []
        self.below: set[str] = set()

    def public(self) -> list[str]:
        """Its public names, with those of the holders."""
        names = {name for name in self.names if not name.startswith("_")}
        for holder in self.holders:
            names.update(importlib.import_module(holder).__all__)
        return sorted(names)


def _lines(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """The lines of a table: path, words, words after `<`."""
    for line in text.strip().splitlines():
        path, _, rest = line.partition(":")
        words, _, behind = rest.partition("<")
        yield path.strip(), words.split(), behind.split()


def _read() -> dict[str, Door]:
    doors: dict[str, Door] = {}

    def door(path: str) -> Door:
        if path not in doors:
            doors[path] = Door()
            if path:
                above, _, last = path.rpartition(".")
                door(above).below.add(last)
        return doors[path]

    for package, names, holders in _lines(OFFER):
        for name in names:
            door(f"{package}.{name}").holders += holders or [f"wherry.{package}"]
    for path, names, (module,) in _lines(NAMES):
        for name in names:
            theirs, _, ours = name.partition("=")
            door(path).names[theirs] = _forward(module, ours or theirs)
    for advice, table in REFUSED:
        for path, names, _ in _lines(table):
            for name in names:
                door(path).names.setdefault(name, _refusal(path, name, advice))
    return doors


def _forward(module: str, name: str) -> Callable[[], Any]:
    return lambda: importlib.import_module(module) if name == "*" else getattr(importlib.import_module(module), name)


def _refusal(path: str, name: str, advice: str) -> Callable[[], Any]:
    def make() -> Any:
        from wherry._inside.refused import refused

        return refused(f"paddle.{path}.{name}", advice)

    return make


DOORS = _read()
IN_FILES = {name.partition("=")[0]: _forward(module, name.partition("=")[2] or name) for _, names, (module,) in _lines(IMPORTED) for name in names}


def find(path: str, name: str) -> Any:
    """What `wherry.<path>.<name>` is by the tables.

    Raises:
        LookupError: they do not have it.
    """
    door = DOORS.get(path)
    if door is not None:
        if name in door.names:
            return door.names[name]()
        for holder in door.holders:
            module = importlib.import_module(holder)
            if name in module.__all__:
                return getattr(module, name)
        if name in door.below:
            return importlib.import_module(f"wherry.{path}.{name}".replace("..", "."))
    if name in IN_FILES and (path not in PACKAGES if "." in path else path in FILES):
        return IN_FILES[name]()
    raise LookupError(name)


def spec_of(path: str) -> importlib.machinery.ModuleSpec | None:
    """How to import `wherry.<path>`; None where the tables do not have it."""
    above, _, last = path.rpartition(".")
    named = above in DOORS and last in DOORS[above].names
    if path not in DOORS and not named:
        return None
    parent = sys.modules[f"wherry.{above}".rstrip(".")]
    if named and path in DOORS and last not in vars(parent):
        vars(parent)[last] = DOORS[above].names[last]()
    if not isinstance(vars(parent).get(last), (ModuleType, NoneType)):
        _guard(parent)
    return importlib.machinery.ModuleSpec(f"wherry.{path}", _Loader(), is_package=True)


class _Guarded(ModuleType):
    """A package with a function of the same name as a module below it (`paddle.amp.auto_cast`): importing the module leaves the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType) or isinstance(vars(self).get(name), (ModuleType, NoneType)):
            super().__setattr__(name, value)


def _guard(module: ModuleType) -> None:
    if not isinstance(module, _Guarded):
        module.__class__ = type("_Guarded", (_Guarded, type(module)), {})


class _Loader(importlib.abc.Loader):
    """Makes the module of a path; one that stands for another of ours is that one, under a second name."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        above, _, last = spec.name.removeprefix("wherry.").rpartition(".")
        maker = DOORS[above].names.get(last) if above in DOORS else None
        found = maker() if maker is not None else None
        if not isinstance(found, ModuleType):
            if spec.name.removeprefix("wherry.") not in DOORS:
                raise ModuleNotFoundError(f"No module named {spec.name!r}: it is {type(found).__name__} {last!r}", name=spec.name)
            return _DoorModule(spec.name, "A path of Paddle. What it offers stands in wherry._doors.")
        self._spec = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        if isinstance(module, _DoorModule):
            from wherry import _absent

            door = DOORS[module.__name__.partition(".")[2]]
            for holder in map(importlib.import_module, door.holders):  # in its dict, where libraries look through a module
                for name in set(holder.__all__) - set(door.names):
                    with contextlib.suppress(ModuleNotFoundError):  # setuptools, which whoever asks for BuildExtension is told of
                        vars(module)[name] = getattr(holder, name)
            module.__getattr__ = _absent.looked_up(module.__name__)  # type: ignore[method-assign]
        else:
            module.__spec__ = self._spec  # it runs already, under its own name
            if not hasattr(module, "__path__"):
                module.__path__ = []


class _DoorModule(ModuleType):
    @property
    def __all__(self) -> list[str]:
        return DOORS[self.__name__.partition(".")[2]].public()

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self.__all__, *DOORS[self.__name__.partition(".")[2]].below})


def modules() -> list[str]:
    """Every path of the tables that is a module, with `wherry.` in front."""
    return sorted(f"wherry.{path}" for path in DOORS if path)
