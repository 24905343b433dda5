// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ib_core.ko: the order in which its parts come up and go down.
 *
 * A part may use those above it:
 *
 *	event		the workqueue that carries events
 *	cq_poll		the workqueues that poll completion queues
 *	device		the table of devices and the workqueue that unregisters
 *	sysfs		the class; refuses to share the machine with another stack
 *	nldev		the commands of the netlink protocol
 *	device_net	namespaces; each opens the protocol's socket
 *	gid_events	notifiers of addresses and netdevs
 *
 * Drivers and clients use this module's symbols, so that no device and no
 * client is there when it goes.
 */
#include <linux/module.h>
#include <linux/netlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>
#include <cq_poll.h>
#include <device.h>
#include <sysfs.h>

MODULE_DESCRIPTION("softroce: RDMA core");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_NETLINK(RDMA_NL_NLDEV, 5);
MODULE_ALIAS_NET_PF_PROTO(PF_NETLINK, NETLINK_RDMA);

/* Its name is the point: <softroce.h> tells which mix-up it prevents. */
const int softroce_core_abi = 1;
EXPORT_SYMBOL(softroce_core_abi);

struct part {
	const char *name;
	int (*init)(void);
	void (*exit)(void);
};

static const struct part parts[] = {
	{ "event", ib_event_init, ib_event_exit },
	{ "cq_poll", ib_cq_poll_init, ib_cq_poll_exit },
	{ "device", ib_device_init, ib_device_exit },
	{ "sysfs", ib_sysfs_init, ib_sysfs_exit },
	{ "nldev", nldev_init, nldev_exit },
	{ "device_net", ib_device_net_init, ib_device_net_exit },
	{ "gid_events", gid_events_init, gid_events_exit },
};

static void take_down(size_t count)
{
	while (count--)
		parts[count].exit();
}

static int __init ib_core_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		err = parts[i].init();
		if (err) {
			pr_err("softroce: ib_core: %s does not start: %d\n",
			       parts[i].name, err);
			take_down(i);
			return err;
		}
	}
	return 0;
}

static void __exit ib_core_exit(void)
{
	take_down(ARRAY_SIZE(parts));
}

module_init(ib_core_init);
module_exit(ib_core_exit);
