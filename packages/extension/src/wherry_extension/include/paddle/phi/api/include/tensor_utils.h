// A tensor of memory that somebody else has.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "paddle/phi/api/include/context_pool.h"
#include "paddle/phi/api/include/tensor.h"

namespace paddle {

using Deleter = std::function<void(void *)>;

namespace detail {
class Blob : public phi::Allocation {
 public:
  Blob(void *data, size_t bytes, const phi::Place &place, Deleter deleter) : phi::Allocation(data, bytes, place), given_(data), deleter_(std::move(deleter)) {}
  ~Blob() override {
    if (deleter_) deleter_(given_);
  }

 private:
  void *given_;
  Deleter deleter_;
};
}  // namespace detail

// `deleter` is called when nobody needs the memory any more; without one it has to live as long as the tensor.
inline Tensor from_blob(void *data, const phi::IntArray &shape, phi::DataType dtype, phi::DataLayout layout = phi::DataLayout::NCHW,
                        const phi::Place &place = phi::Place(), const Deleter &deleter = nullptr) {
  if (!data) PD_THROW("from_blob: got no memory");
  const phi::DenseTensorMeta meta(dtype, phi::DDim(shape.GetData().begin(), shape.GetData().end()), layout);
  const phi::Place where = place.GetType() == AllocationType::UNDEFINED ? phi::Place(phi::CPUPlace()) : place;
  auto holder = std::make_shared<detail::Blob>(data, static_cast<size_t>(phi::product(meta.dims)) * phi::SizeOf(dtype), where, deleter);
  return Tensor(std::make_shared<phi::DenseTensor>(std::move(holder), meta));
}

}  // namespace paddle
