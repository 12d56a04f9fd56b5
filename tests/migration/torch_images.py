"""A convolution network with the usual loop: a program of PyTorch."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from beginning import begin
from torch import optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(4),
            nn.ReLU(inplace=True),
            nn.AvgPool2d(2, padding=1),
        )
        self.head = nn.Linear(4 * 5 * 5, classes)

    def forward(self, x):
        x = self.features(x)
        x = x.view(x.size(0), -1)
        return self.head(F.dropout(x, p=0.5, training=False))


net = begin(Net())
rng = np.random.RandomState(0)
images = torch.tensor(rng.rand(24, 1, 8, 8).astype("float32"))
labels = torch.tensor((rng.rand(24) * 3).astype("int64"), dtype=torch.long)
loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=False)
optimizer = optim.Adam(net.parameters(), lr=0.02, betas=(0.9, 0.99), weight_decay=1e-4)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    net.train()
    for batch, target in loader:
        optimizer.zero_grad()
        loss = criterion(net(batch), target)
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item())
net.eval()
with torch.no_grad():
    probability = F.softmax(net(images), dim=1)
    found = torch.argmax(probability, dim=1)
    print("loss %.5f" % -torch.log(probability).mean().item(), (found == labels).float().mean().item())
