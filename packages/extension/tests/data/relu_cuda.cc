#include "paddle/extension.h"

#include <vector>

#define CHECK_INPUT(x) PD_CHECK(x.is_gpu(), #x " must be a GPU Tensor.")

std::vector<paddle::Tensor> relu_cuda_forward(const paddle::Tensor& x);
std::vector<paddle::Tensor> relu_cuda_backward(const paddle::Tensor& x,
                                                const paddle::Tensor& out,
                                                const paddle::Tensor& grad_out);

std::vector<paddle::Tensor> ReluCUDAForward(const paddle::Tensor& x) {
    CHECK_INPUT(x);

    return relu_cuda_forward(x);
}

std::vector<paddle::Tensor> ReluCUDABackward(const paddle::Tensor& x,
                                              const paddle::Tensor& out,
                                              const paddle::Tensor& grad_out) {
    CHECK_INPUT(x);
    CHECK_INPUT(out);
    CHECK_INPUT(grad_out);

    return relu_cuda_backward(x, out, grad_out);
}

// 维度推导
std::vector<std::vector<int64_t>> ReluInferShape(std::vector<int64_t> x_shape) {
    return {x_shape};
}

// 类型推导
std::vector<paddle::DataType> ReluInferDtype(paddle::DataType x_dtype) {
    return {x_dtype};
}

PD_BUILD_OP(custom_relu)
    .Inputs({ "X" })
    .Outputs({ "Out" })
    .SetKernelFn(PD_KERNEL(ReluCUDAForward));

PD_BUILD_GRAD_OP(custom_relu)
    .Inputs({ "X", "Out", paddle::Grad("Out") })
    .Outputs({paddle::Grad("X") })
    .SetKernelFn(PD_KERNEL(ReluCUDABackward));
