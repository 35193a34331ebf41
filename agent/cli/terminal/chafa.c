/*
 * Loading libchafa and drawing with it. Its types are opaque here and its few functions are
 * declared as its documentation has them (1.8 and newer), so that neither it nor GLib is needed to
 * build. It may be given pixels alone, never the bytes of a file.
 */
#include "agent/cli/terminal/chafa.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#define LIBRARY "libchafa.so.0"
#define PACKAGE "libchafa0"

/* Of its enums. */
enum { MODE_TRUECOLOR = 0, MODE_INDEXED_256 = 1, MODE_FGBG = 5 };
enum { PIXELS_SYMBOLS, PIXELS_SIXELS, PIXELS_KITTY, PIXELS_ITERM2 };
enum { SYMBOLS_BLOCK = 1 << 3, SYMBOLS_SPACE = 1, SYMBOLS_QUAD = 1 << 7, SYMBOLS_HALF = 3 << 8 };
enum { PIXEL_RGB8 = 8 };

/* GLib's string, which it prints to. */
struct text {
	char *str;
	size_t len, allocated_len;
};

static struct {
	void *(*config_new)(void);
	void (*config_unref)(void *config);
	void (*set_geometry)(void *config, int width, int height);
	void (*set_cell_geometry)(void *config, int width, int height);
	void (*set_canvas_mode)(void *config, int mode);
	void (*set_pixel_mode)(void *config, int mode);
	void (*set_symbol_map)(void *config, const void *map);
	void *(*map_new)(void);
	void (*map_unref)(void *map);
	void (*map_add)(void *map, int tags);
	void *(*canvas_new)(const void *config);
	void (*canvas_unref)(void *canvas);
	void (*draw)(void *canvas, int type, const uint8_t *pixels, int width, int height,
		     int stride);
	struct text *(*print)(void *canvas, void *terminal);
	void *(*db_get)(void);
	void *(*db_fallback)(void *db);
	void (*info_unref)(void *info);
	char *(*string_free)(struct text *text, int with_bytes);
} api;

static const struct {
	const char *name;
	void *function; /* of api */
} symbols[] = {
	{ "chafa_canvas_config_new", &api.config_new },
	{ "chafa_canvas_config_unref", &api.config_unref },
	{ "chafa_canvas_config_set_geometry", &api.set_geometry },
	{ "chafa_canvas_config_set_cell_geometry", &api.set_cell_geometry },
	{ "chafa_canvas_config_set_canvas_mode", &api.set_canvas_mode },
	{ "chafa_canvas_config_set_pixel_mode", &api.set_pixel_mode },
	{ "chafa_canvas_config_set_symbol_map", &api.set_symbol_map },
	{ "chafa_symbol_map_new", &api.map_new },
	{ "chafa_symbol_map_unref", &api.map_unref },
	{ "chafa_symbol_map_add_by_tags", &api.map_add },
	{ "chafa_canvas_new", &api.canvas_new },
	{ "chafa_canvas_unref", &api.canvas_unref },
	{ "chafa_canvas_draw_all_pixels", &api.draw },
	{ "chafa_canvas_print", &api.print },
	{ "chafa_term_db_get_default", &api.db_get },
	{ "chafa_term_db_get_fallback_info", &api.db_fallback },
	{ "chafa_term_info_unref", &api.info_unref },
	{ "g_string_free", &api.string_free }, /* of GLib, which it is linked to */
};

static int load(struct error *err)
{
	static bool loaded;

	if (loaded)
		return 0;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return error_set(
			err, ERR_CONFIG,
			"figures are drawn here by %s: install the Debian package " PACKAGE,
			LIBRARY);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(library, symbols[i].name);
		if (!symbol)
			return error_set(err, ERR_CONFIG,
					 "%s has no %s: install a newer package " PACKAGE, LIBRARY,
					 symbols[i].name);
		/* A pointer to data and one to a function have one size wherever we run. */
		memcpy(symbols[i].function, &symbol, sizeof(symbol));
	}
	loaded = true;
	return 0;
}

/* How it is to be drawn; the symbols are those that any font has. */
static void *config_of(const struct chafa_drawing *d)
{
	static const int forms[] = { [PICTURE_BLOCKS] = PIXELS_SYMBOLS,
				     [PICTURE_SIXEL] = PIXELS_SIXELS,
				     [PICTURE_KITTY] = PIXELS_KITTY,
				     [PICTURE_ITERM2] = PIXELS_ITERM2 };
	bool pixels = d->form != PICTURE_BLOCKS;
	void *config = api.config_new(), *map = api.map_new();

	api.map_add(map, SYMBOLS_BLOCK | SYMBOLS_SPACE | SYMBOLS_QUAD | SYMBOLS_HALF);
	api.set_symbol_map(config, map);
	api.map_unref(map);
	api.set_geometry(config, d->columns, d->rows);
	api.set_cell_geometry(config, d->cell_width, d->cell_height);
	api.set_pixel_mode(config, forms[d->form]);
	api.set_canvas_mode(config, pixels || (d->color && d->true_color) ? MODE_TRUECOLOR :
				    d->color				  ? MODE_INDEXED_256 :
									    MODE_FGBG);
	return config;
}

int chafa_draw(const struct chafa_drawing *d, struct buf *out, struct error *err)
{
	if (load(err) < 0)
		return -1;
	void *config = config_of(d);
	void *canvas = api.canvas_new(config);
	api.draw(canvas, PIXEL_RGB8, d->pixels, d->width, d->height, d->width * 3);
	void *info = api.db_fallback(api.db_get());
	struct text *text = api.print(canvas, info);
	api.info_unref(info);
	buf_add(out, text->str, text->len);
	api.string_free(text, 1);
	api.canvas_unref(canvas);
	api.config_unref(config);
	return out->overflow ? error_set(err, ERR_FAILED, "the drawing is too large") : 0;
}
