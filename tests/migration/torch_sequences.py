"""An LSTM over sequences, and tensors put together: a program of PyTorch."""
import numpy as np
import torch
from beginning import begin
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 6, padding_idx=0)
        self.lstm = nn.LSTM(6, 5, num_layers=1, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(10)
        self.out = nn.Linear(10, 2)

    def forward(self, ids):
        states, _ = self.lstm(self.words(ids))
        last = torch.cat([states[:, -1, :5], states[:, 0, 5:]], dim=1)
        return self.out(self.norm(last))


net = begin(Reader())
rng = np.random.RandomState(3)
ids = torch.tensor(rng.randint(1, 20, (12, 7)))
labels = torch.tensor(rng.randint(0, 2, 12))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(8):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(ids), labels)
    loss.backward()
    optimizer.step()
    print("loss %.5f" % loss.item())
x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
y = torch.stack([x, x * 2], dim=0).permute(2, 0, 1)
print("loss %.5f" % torch.sum(torch.clamp(y, min=1.0, max=5.0), dim=(0, 1)).mean().item(), list(y.size()))
