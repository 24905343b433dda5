// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What libibverbs says of a device's GIDs: a line "PORT INDEX IFINDEX" each.
 *
 *   gids DEV
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#define MOST 1024

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (struct ibv_device **dev = list; dev && *dev && !ctx; dev++)
		if (!strcmp(ibv_get_device_name(*dev), name))
			ctx = ibv_open_device(*dev);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

int main(int argc, char **argv)
{
	static struct ibv_gid_entry all[MOST];
	struct ibv_context *ctx = open_device(argc > 1 ? argv[1] : "");
	struct ibv_gid_entry one;
	ssize_t n;

	if (!ctx) {
		fprintf(stderr, "gids: no such device\n");
		return 1;
	}
	n = ibv_query_gid_table(ctx, all, MOST, 0);
	if (n < 0) {
		fprintf(stderr, "gids: %s\n", strerror(-n));
		return 1;
	}
	for (ssize_t i = 0; i < n; i++) {
		/* Asked for alone it is the same. */
		if (ibv_query_gid_ex(ctx, all[i].port_num, all[i].gid_index,
				     &one, 0) ||
		    memcmp(&one, &all[i], sizeof(one))) {
			fprintf(stderr, "gids: index %u differs\n",
				all[i].gid_index);
			return 1;
		}
		printf("%u %u %u\n", one.port_num, one.gid_index,
		       one.ndev_ifindex);
	}
	ibv_close_device(ctx);
	return 0;
}
