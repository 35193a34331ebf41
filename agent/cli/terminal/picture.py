# Pixels of an image, for a terminal: "WIDTH HEIGHT\n", then RGB, no larger than asked for. Runs in
# the sandbox: the file is as hostile as code. PNG by hand, as every Python can; others where Pillow is.
import struct
import sys
import zlib


def fit(width, height, most_wide, most_high):
    step = max(1, -(-width // most_wide), -(-height // most_high))
    return step


def rows_of(data, height, stride, size):
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
        yield row


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
    if depth != 8 or laced or width * height > 16 << 20:
        raise ValueError("a form of PNG that is not read here")
    size = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    step = fit(width, height, most_wide, most_high)
    out = bytearray()
    lines = 0
    for y, row in enumerate(rows_of(zlib.decompress(body), height, width * size, size)):
        if y % step:
            continue
        lines += 1
        for x in range(0, width * size, size * step):
            if color == 3:
                i = row[x]
                rgb, alpha = palette[3 * i:3 * i + 3], clear[i] if i < len(clear) else 255
            elif color in (0, 4):
                rgb, alpha = bytes((row[x],)) * 3, row[x + 1] if color == 4 else 255
            else:
                rgb, alpha = row[x:x + 3], row[x + 3] if color == 6 else 255
            if alpha != 255:
                rgb = bytes((v * alpha + 255 * (255 - alpha)) // 255 for v in rgb)
            out += rgb
    return -(-width // step), lines, bytes(out)


def other(path, most_wide, most_high):
    from PIL import Image
    with Image.open(path) as image:
        image = image.convert("RGBA")
        image.thumbnail((most_wide, most_high))
        ground = Image.new("RGBA", image.size, "white")
        ground.alpha_composite(image)
        return image.width, image.height, ground.convert("RGB").tobytes()


path, most_wide, most_high = "/in/" + sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, "rb") as file:
    data = file.read()
if data.startswith(b"\x89PNG\r\n\x1a\n"):
    width, height, pixels = png(data, most_wide, most_high)
else:
    width, height, pixels = other(path, most_wide, most_high)
sys.stdout.buffer.write(b"%d %d\n" % (width, height) + pixels)
