// Pictures for a network: the middle square of a file or of what a camera sees, as small as the network takes it.
export const SIDE = 96;

// A canvas of SIDE x SIDE with the middle square of an image, a frame or a bitmap.
export function square(source, width, height) {
  const side = Math.min(width, height);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIDE;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#fff"; // after what is transparent
  context.fillRect(0, 0, SIDE, SIDE);
  context.imageSmoothingQuality = "high";
  context.drawImage(source, (width - side) / 2, (height - side) / 2, side, side, 0, 0, SIDE, SIDE);
  return canvas;
}

export async function fromFile(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error(`${file.name} is not a picture that this browser reads`);
  }
  try {
    return square(bitmap, bitmap.width, bitmap.height);
  } finally {
    bitmap.close();
  }
}

// The numbers of canvases, one after the other.
export function pixels(canvases) {
  const all = new Uint8Array(canvases.length * SIDE * SIDE * 4);
  canvases.forEach((canvas, i) => {
    all.set(canvas.getContext("2d", { willReadFrequently: true }).getImageData(0, 0, SIDE, SIDE).data, i * SIDE * SIDE * 4);
  });
  return all;
}

// A camera that is shown in a video element.
export class Camera {
  #video;
  #stream = null;

  constructor(video) {
    this.#video = video;
  }

  get on() {
    return this.#stream !== null;
  }

  // device: its id; undefined takes the browser's choice. ended: called when the camera goes away by itself.
  async start(device, ended) {
    this.stop();
    if (!navigator.mediaDevices) throw new Error("Browsers give cameras to pages over HTTPS and on localhost alone. Take files instead.");
    let stream;
    try {
      const size = { width: { ideal: 640 }, height: { ideal: 480 } };
      stream = await navigator.mediaDevices.getUserMedia({ video: device ? { ...size, deviceId: { exact: device } } : size });
    } catch (error) {
      const reason = { NotAllowedError: "It was not allowed. Allow it beside the page's address.", NotFoundError: "There is none.", NotReadableError: "Another program uses it." };
      throw new Error(`No camera. ${reason[error.name] ?? error.message}`);
    }
    this.#stream = stream;
    const [track] = stream.getVideoTracks();
    track.addEventListener("ended", () => {
      if (this.#stream !== stream) return;
      this.stop();
      ended();
    });
    this.#video.srcObject = stream;
    // As in a mirror, unless it looks away from the visitor; only what is shown, not what is taken.
    this.#video.classList.toggle("mirrored", track.getSettings().facingMode !== "environment");
    await this.#video.play();
    return track.getSettings().deviceId;
  }

  stop() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = null;
    this.#video.srcObject = null;
  }

  // What it sees now.
  take() {
    return square(this.#video, this.#video.videoWidth, this.#video.videoHeight);
  }
}

export async function cameras() {
  return (await navigator.mediaDevices.enumerateDevices()).filter(({ kind }) => kind === "videoinput");
}
