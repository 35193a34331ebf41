# A machine of Firecracker's whose monitor is played (firecracker.py): its kernel, its image and itself in this
# folder. After lib.sh; sets $box.
play_firecracker() {
	mkdir -p mock kernel/boot kernel/lib/modules/6.1-cloud/kernel/drivers/virtio cache/assay
	cp "$top/tests/integration/firecracker.py" mock/firecracker
	chmod 755 mock/firecracker
	ln -s "$(dirname "$ASSAY")/assay-keeper" mock/keeper
	touch kernel/boot/vmlinuz-6.1-cloud kernel/lib/modules/6.1-cloud/kernel/drivers/virtio/virtio.ko
	printf '\177ELF and so on' >kernel/boot/vmlinux-6.1-cloud
	export XDG_CACHE_HOME=$PWD/cache TMPDIR=$PWD
	box=firecracker:$PWD/kernel

	# An image that is none, under the name that the script's first lines give to the one it would make.
	script=$(dirname "$ASSAY")/assay-image
	{ sed '/^image=/q' "$script" | sed 's,cat "$0",cat "$script",' && echo 'echo "$image"'; } >name.sh
	image=$(script=$script sh name.sh "$XDG_CACHE_HOME/assay")
	head -c 4096 /dev/zero >"$image"
	printf '\123\357' | dd of="$image" bs=1 seek=1080 conv=notrunc 2>/dev/null
}
