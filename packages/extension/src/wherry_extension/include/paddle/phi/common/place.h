// Where memory is: a kind of device and its number.
#pragma once

#include <cstdint>
#include <string>

namespace paddle {

// The enumeration that 2.0 to 2.2 named devices with.
enum class PlaceType { kUNK = -1,
                       kCPU = 0,
                       kGPU = 1 };

}  // namespace paddle

namespace phi {

enum class AllocationType : int8_t {
  UNDEFINED = 0,
  CPU = 1,
  GPU = 2,
  GPUPINNED = 3,
  XPU = 4,
  NPU = 5,
  NPUPINNED = 6,
  IPU = 7,
  MLU = 8,
  CUSTOM = 9,
};

class Place {
 public:
  Place() = default;
  explicit Place(AllocationType type, int8_t id = 0, const std::string &device_type = "")
      : device_(id), type_(type), name_(device_type) {}
  Place(paddle::PlaceType type)  // NOLINT: both stand for places in one expression
      : type_(type == paddle::PlaceType::kCPU ? AllocationType::CPU : type == paddle::PlaceType::kGPU ? AllocationType::GPU
                                                                                                      : AllocationType::UNDEFINED) {}

  void Reset(AllocationType type, int8_t id = 0) {
    type_ = type;
    device_ = id;
    name_.clear();
  }
  AllocationType GetType() const { return type_; }
  int8_t GetDeviceId() const { return device_; }
  std::string GetDeviceType() const { return name_; }  // of a plug-in: "CustomCPU"

  std::string DebugString() const {
    static const char *const names[] = {"undefined", "cpu", "gpu", "gpu_pinned", "xpu", "npu", "npu_pinned", "ipu", "mlu"};
    if (type_ == AllocationType::CUSTOM) return "Place(" + name_ + ":" + std::to_string(device_) + ")";
    const std::string name = names[static_cast<int>(type_)];
    return type_ == AllocationType::CPU || type_ == AllocationType::UNDEFINED ? "Place(" + name + ")"
                                                                              : "Place(" + name + ":" + std::to_string(device_) + ")";
  }
  bool operator==(const Place &other) const {
    return type_ == other.type_ && device_ == other.device_ && name_ == other.name_;
  }
  bool operator!=(const Place &other) const { return !(*this == other); }
  bool operator<(const Place &other) const {
    return type_ != other.type_ ? type_ < other.type_ : device_ != other.device_ ? device_ < other.device_
                                                                                 : name_ < other.name_;
  }

 private:
  int8_t device_ = 0;
  AllocationType type_ = AllocationType::UNDEFINED;
  std::string name_;
};

class CPUPlace : public Place {
 public:
  CPUPlace() : Place(AllocationType::CPU) {}
};
class GPUPlace : public Place {
 public:
  explicit GPUPlace(int id = 0) : Place(AllocationType::GPU, static_cast<int8_t>(id)) {}
};
class GPUPinnedPlace : public Place {
 public:
  GPUPinnedPlace() : Place(AllocationType::GPUPINNED) {}
};
class XPUPlace : public Place {
 public:
  explicit XPUPlace(int id = 0) : Place(AllocationType::XPU, static_cast<int8_t>(id)) {}
};
class IPUPlace : public Place {
 public:
  explicit IPUPlace(int id = 0) : Place(AllocationType::IPU, static_cast<int8_t>(id)) {}
};
class NPUPlace : public Place {
 public:
  explicit NPUPlace(int id = 0) : Place(AllocationType::NPU, static_cast<int8_t>(id)) {}
};
class CustomPlace : public Place {
 public:
  explicit CustomPlace(const std::string &device_type = "", int id = 0)
      : Place(AllocationType::CUSTOM, static_cast<int8_t>(id), device_type) {}
};

}  // namespace phi

namespace paddle {

using phi::AllocationType;
using phi::CPUPlace;
using phi::CustomPlace;
using phi::GPUPinnedPlace;
using phi::GPUPlace;
using phi::IPUPlace;
using phi::NPUPlace;
using phi::Place;
using phi::XPUPlace;

// A PlaceType says the kind of device only: any GPU is kGPU.
inline bool operator==(const Place &place, PlaceType type) { return place.GetType() == Place(type).GetType(); }
inline bool operator==(PlaceType type, const Place &place) { return place == type; }
inline bool operator!=(const Place &place, PlaceType type) { return !(place == type); }
inline bool operator!=(PlaceType type, const Place &place) { return !(place == type); }

}  // namespace paddle
