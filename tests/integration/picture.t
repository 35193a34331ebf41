#!/bin/sh
# Images for the terminal, decoded in the sandbox: every form of PNG by hand, each pixel the mean of
# what it stands for, and the same where Pillow is.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3 here'

cat >make.py <<'EOF'
# PNGs of every form, and the RGB that they are: NAME.png, NAME.rgb
import struct, zlib
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def packed(samples, depth):
    if depth == 16:
        return b"".join(struct.pack(">H", v) for v in samples)
    bits = "".join(format(v, "0%db" % depth) for v in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
def filtered(lines, size):
    out, before = b"", None
    for y, line in enumerate(lines):
        before = before or bytes(len(line))
        kind, row = y % 5, bytearray()
        for i, v in enumerate(line):
            a, b, c = line[i - size] if i >= size else 0, before[i], before[i - size] if i >= size else 0
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row.append((v - (0, a, b, (a + b) // 2, near)[kind]) & 255)
        out, before = out + bytes((kind,)) + row, line
    return out
def write(name, width, height, depth, color, laced, pixel, rgb, extra=b""):
    count = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    size = max(1, count * depth // 8)
    body = b""
    for x0, y0, dx, dy in PASSES if laced else ((0, 0, 1, 1),):
        lines = [packed([v for x in range(x0, width, dx) for v in pixel(x, y)], depth) for y in range(y0, height, dy)]
        body += filtered([line for line in lines if line], size)
    with open(name + ".png", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, laced)) +
                extra + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b""))
    with open(name + ".rgb", "wb") as f:
        f.write(b"%d %d\n" % (width, height) + b"".join(bytes(rgb(x, y)) for y in range(height) for x in range(width)))
def hash_of(x, y, c, most):
    return (x * 7 + y * 13 + c * 29 + x * y) % (most + 1)
for laced in 0, 1:
    for depth in 1, 2, 4, 8, 16:
        most = (1 << depth) - 1
        level = lambda v: v >> 8 if depth == 16 else v * 255 // most
        write("gray-%d-%d" % (depth, laced), 19, 11, depth, 0, laced, lambda x, y: [hash_of(x, y, 0, most)],
              lambda x, y: [level(hash_of(x, y, 0, most))] * 3)
        if depth < 16:
            colors = bytes(hash_of(i, 3, c, 255) for i in range(min(256, most + 1)) for c in range(3))
            write("palette-%d-%d" % (depth, laced), 19, 11, depth, 3, laced, lambda x, y: [hash_of(x, y, 0, most)],
                  lambda x, y: colors[3 * hash_of(x, y, 0, most):][:3], chunk(b"PLTE", colors))
        if depth >= 8:
            write("rgb-%d-%d" % (depth, laced), 19, 11, depth, 2, laced, lambda x, y: [hash_of(x, y, c, most) for c in range(3)],
                  lambda x, y: [level(hash_of(x, y, c, most)) for c in range(3)])
            write("opaque-%d-%d" % (depth, laced), 3, 2, depth, 6, laced, lambda x, y: [hash_of(x, y, c, most) for c in range(3)] + [most],
                  lambda x, y: [level(hash_of(x, y, c, most)) for c in range(3)])
            write("clear-%d-%d" % (depth, laced), 3, 2, depth, 4, laced, lambda x, y: [0, most * x // 2],
                  lambda x, y: [255 - level(most * x // 2)] * 3)
# A black line of one pixel, at a place that no second or third column has.
write("thin", 1301, 40, 8, 0, 0, lambda x, y: [0 if x == 601 else 255], lambda x, y: [0] * 3)
EOF
python3 make.py
decode() { # form, name, width, height: into got.rgb
	{
		[ "$1" = pillow ] || echo 'import sys; sys.modules["PIL"] = None'
		cat "$top/agent/cli/terminal/picture.py"
	} >picture.py
	"$ASSAY" exec --output-bytes 4M picture.py -f "$2" -- "$2" "$3" "$4" >got.rgb 2>err.txt
}
forms='hand'
echo 'from PIL import Image' >has.py
! "$ASSAY" exec has.py >out.txt 2>&1 || forms='hand pillow'
for form in $forms; do
	bad=
	for image in *-[01].png; do
		decode "$form" "$image" 640 480
		cmp -s got.rgb "${image%.png}.rgb" || bad="$bad $image"
	done
	is "$bad" '' "every form of PNG, $form"
	for most in 640 300 1280; do
		decode "$form" thin.png "$most" 480
		is "$(python3 -c '
size, pixels = open("got.rgb", "rb").read().split(b"\n", 1)
wide, high = map(int, size.split())
print(all(min(pixels[3 * wide * y:3 * wide * (y + 1)]) < 230 for y in range(high)), wide <= int("'$most'"))')" \
			'True True' "a thin line stays one at $most, $form"
	done
done
printf '\377\330\377\340 no PNG' >other.jpg
decode hand other.jpg 640 480
is "$?" 1 'what needs Pillow is not read without'
like "$(cat err.txt)" 'exit 3' 'by a code of its own'

done_testing
