"""Small archives in the layout of the data sets of `paddle.audio`, written into a folder. The parity tests read them with real Paddle, too."""
import os
import wave

import numpy as np

EMOTIONS = ("angry", "disgust", "fear", "happy", "neutral", "ps", "sad")


def tone(path, count=3000, rate=8000, channels=1, period=5.0):
    """A wave file of 16 bits: a tone, and noise, without which most of its spectrum would be rounding."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        noise = np.random.default_rng(count).standard_normal(count * channels) * 300
        file.writeframes((np.sin(np.arange(count * channels) / period) * 9000 + noise).astype("<i2").tobytes())
    return path


def esc50(home):
    """Two recordings of each of the five parts."""
    rows = ["filename,fold,target,category,esc10,src_file,take"]
    for i in range(10):
        name = f"{i % 5 + 1}-100{i}-A-{i * 3}.wav"
        tone(os.path.join(home, "ESC-50-master", "audio", name), period=3.0 + i)
        rows.append(f"{name},{i % 5 + 1},{i * 3},class{i},False,100{i},A")
    os.makedirs(os.path.join(home, "ESC-50-master", "meta"), exist_ok=True)
    with open(os.path.join(home, "ESC-50-master", "meta", "esc50.csv"), "w") as file:
        file.write("\n".join(rows) + "\n")


def tess(home):
    """Two speakers, two words, seven emotions."""
    for speaker in ("OAF", "YAF"):
        for emotion in EMOTIONS:
            for word in ("back", "bar"):
                tone(os.path.join(home, "TESS_Toronto_emotional_speech_set", f"{speaker}_{emotion}", f"{speaker}_{word}_{emotion}.wav"))
