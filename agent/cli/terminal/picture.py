# Pixels of an image, for a terminal: "WIDTH HEIGHT\n", then RGB, no larger than asked for, each of
# them the mean of what it stands for, so that a thin line stays one. Runs in the sandbox: the file
# is as hostile as code. By Pillow where that is; PNG by hand, as every Python can.
import operator
import struct
import sys
import zlib

PIXELS_MAX = 16 << 20
NO_PILLOW = 3   # exit code: known to picture.c
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


# --- PNG (RFC 2083) ---

def lines_of(data, height, stride, size):
    """The bytes of each line, without their filters."""
    before = bytearray(stride)
    at = 0
    for _ in range(height):
        kind = data[at]
        row = bytearray(data[at + 1:at + 1 + stride])
        at += 1 + stride
        if kind == 1:
            for i in range(size, stride):
                row[i] = (row[i] + row[i - size]) & 255
        elif kind == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, before))
        elif kind == 3:
            for i in range(stride):
                left = row[i - size] if i >= size else 0
                row[i] = (row[i] + (left + before[i]) // 2) & 255
        elif kind == 4:
            for i in range(stride):
                left = row[i - size] if i >= size else 0
                corner = before[i - size] if i >= size else 0
                up = before[i]
                p = left + up - corner
                a, b, c = abs(p - left), abs(p - up), abs(p - corner)
                row[i] = (row[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255
        before = row
        yield bytes(row)


def on_white(values, alphas):
    if min(alphas) == 255:
        return values
    return bytes((v * a + 255 * (255 - a)) // 255 for v, a in zip(values, alphas))


class Colors:
    """From the bytes of a line to RGB."""

    def __init__(self, depth, color, palette, clear):
        self.depth, self.color = depth, color
        self.size = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
        self.bytes = max(1, self.size * depth // 8)
        most = (1 << min(depth, 8)) - 1
        scale = 1 if color == 3 or depth >= 8 else 255 // most
        self.parts = [bytes((b >> shift & most) * scale for shift in range(8 - depth, -1, -depth)) for b in range(256)] \
            if depth < 8 else None
        clear = clear.ljust(256, b"\xff")[:256]
        palette = palette.ljust(768, b"\0")
        self.tables = [on_white(palette[c:768:3], clear) for c in range(3)]

    def stride(self, width):
        return (width * self.size * self.depth + 7) // 8

    def rgb(self, line, width):
        if self.depth == 16:
            line = line[::2]
        elif self.depth < 8:
            line = b"".join(map(self.parts.__getitem__, line))[:width * self.size]
        if self.color == 2:
            return line
        if self.color == 3:
            channels = [line.translate(table) for table in self.tables]
        elif self.color == 6:
            channels = [on_white(line[c::4], line[3::4]) for c in range(3)]
        else:
            channels = [on_white(line[::2], line[1::2]) if self.color == 4 else line] * 3
        out = bytearray(3 * width)
        for c in range(3):
            out[c::3] = channels[c]
        return bytes(out)


def unlaced(data, width, height, colors):
    rows = [bytearray(3 * width) for _ in range(height)]
    for x, y, across, down in PASSES:
        wide, high = -(-(width - x) // across), -(-(height - y) // down)
        if wide < 1 or high < 1:
            continue
        stride = colors.stride(wide)
        for n, line in enumerate(lines_of(data, high, stride, colors.bytes)):
            rgb = colors.rgb(line, wide)
            for c in range(3):
                rows[y + n * down][3 * x + c::3 * across] = rgb[c::3]
        data = data[(stride + 1) * high:]
    return rows


def smaller(rows, width, height, step):
    """Each pixel the mean of a box of step by step."""
    out, sums, lines = bytearray(), None, 0
    fill = -width % step
    for y, row in enumerate(rows):
        row = bytes(row) + bytes(row[-3:]) * fill
        parts = [row[c + 3 * j::3 * step] for j in range(step) for c in range(3)]
        sums = sums or [[0] * (len(row) // 3 // step) for _ in range(3)]
        for n, part in enumerate(parts):
            sums[n % 3] = list(map(operator.add, sums[n % 3], part))
        lines += 1
        if lines == step or y == height - 1:
            for pixel in zip(*sums):
                out += bytes(v // (lines * step) for v in pixel)
            sums, lines = None, 0
    return -(-width // step), -(-height // step), bytes(out)


def png(data, most_wide, most_high):
    at, body, palette, clear = 8, b"", b"", b""
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color, _, _, laced = struct.unpack(">IIBBBBB", chunk)
        elif kind == b"PLTE":
            palette = chunk
        elif kind == b"tRNS":
            clear = chunk
        elif kind == b"IDAT":
            body += chunk
        at += 12 + size
    if width * height > PIXELS_MAX:
        raise ValueError("too large to be read by hand")
    colors = Colors(depth, color, palette, clear)
    stride = colors.stride(width)
    plain = zlib.decompressobj().decompress(body, 2 * (stride + 1) * height + 4096)
    rows = unlaced(plain, width, height, colors) if laced else \
        (colors.rgb(line, width) for line in lines_of(plain, height, stride, colors.bytes))
    step = max(1, -(-width // most_wide), -(-height // most_high))
    if step == 1:
        return width, height, b"".join(rows)
    return smaller(rows, width, height, step)


# --- all else ---

def by_pillow(image, most_wide, most_high):
    if image.mode.startswith("I"):      # of 16 bits
        image = image.convert("I").point(lambda v: v * (1 / 256)).convert("L")
    image = image.convert("RGBA")
    image.thumbnail((most_wide, most_high))
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image)
    return image.width, image.height, ground.convert("RGB").tobytes()


path, most_wide, most_high = "/in/" + sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, "rb") as file:
    data = file.read()
try:
    from PIL import Image
except ImportError:
    Image = None
if Image:
    with Image.open(path) as image:
        width, height, pixels = by_pillow(image, most_wide, most_high)
elif data.startswith(b"\x89PNG\r\n\x1a\n"):
    width, height, pixels = png(data, most_wide, most_high)
else:
    sys.exit(NO_PILLOW)
sys.stdout.buffer.write(b"%d %d\n" % (width, height) + pixels)
