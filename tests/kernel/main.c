// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A kernel consumer that tests what the stack does for kernel consumers:
 *
 *   insmod softroce_ktest.ko dev=rxa dev2=rxb
 *
 * Lines "softroce_ktest: ok ..." and "not ok ..." go to the kernel log;
 * insmod fails when one of them is not ok.
 */
#include <linux/delay.h>
#include <rdma/ib_cache.h>
#include <softroce.h>
#include "mistakes.h"
#include "rig.h"

static char *dev = "rxa";
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "name of an RDMA device");
static char *dev2 = "rxb";
module_param(dev2, charp, 0444);
MODULE_PARM_DESC(dev2, "name of another one, on the same network; or the same");
static char *mistake;
module_param(mistake, charp, 0444);
MODULE_PARM_DESC(mistake, "make this mistake instead, to see that a debug kernel notices it");

struct ib_device *ktest_dev[2];
static int failures;
static int events;

bool ktest_report(bool good, const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	pr_info("softroce_ktest: %s - %pV\n", good ? "ok" : "not ok", &vaf);
	va_end(args);
	if (!good)
		failures++;
	return good;
}

/* ---- devices come and go ---- */

static int ktest_add(struct ib_device *device);

static void ktest_remove(struct ib_device *device, void *data)
{
	gsi_leave(device);
	if (ktest_dev[0] == device)
		ktest_dev[0] = NULL;
	if (ktest_dev[1] == device)
		ktest_dev[1] = NULL;
}

static struct ib_client client = {
	.name = "softroce_ktest",
	.add = ktest_add,
	.remove = ktest_remove,
};

static int ktest_add(struct ib_device *device)
{
	if (!strcmp(device->name, dev))
		ktest_dev[0] = device;
	if (!strcmp(device->name, dev2))
		ktest_dev[1] = device;
	ib_set_client_data(device, &client, ktest_dev);
	return 0;
}

static void count_event(struct ib_event_handler *handler, struct ib_event *event)
{
	events++;
}

static void test_client(void)
{
	struct ib_event_handler handler;
	struct ib_event event = {
		.device = ktest_dev[0],
		.element.port_num = 1,
		.event = IB_EVENT_PKEY_CHANGE,
	};

	ktest_report(ib_get_client_data(ktest_dev[0], &client) == ktest_dev,
		     "the client's data of a device");
	INIT_IB_EVENT_HANDLER(&handler, ktest_dev[0], count_event);
	ib_register_event_handler(&handler);
	ib_dispatch_event(&event);
	/* It comes later, in a work. */
	msleep(200);
	ib_unregister_event_handler(&handler);
	ktest_report(events == 1, "an event reached its handler %d times",
		     events);
	ib_dispatch_event(&event);
	msleep(200);
	ktest_report(events == 1, "and none when that was gone");
}

/* Where keys and addresses stand in a port's tables. */
static void test_tables(void)
{
	union ib_gid gid, none = { .raw = { 0xfd, 1, 2, 3 } };
	u32 port = 0;
	u16 at = 0xdead;

	ktest_report(!ib_find_pkey(ktest_dev[0], 1, 0xffff, &at) && !at,
		     "the default P_Key stands first");
	at = 0xdead;
	ktest_report(!ib_find_cached_pkey(ktest_dev[0], 1, 0x7fff, &at) && !at,
		     "for a limited member as well");
	ktest_report(ib_find_pkey(ktest_dev[0], 1, 0x1234, &at) == -ENOENT &&
			     ib_find_pkey(ktest_dev[0], 2, 0xffff, &at) ==
				     -EINVAL,
		     "no other P_Key, and no other port");
	ktest_report(!rdma_query_gid(ktest_dev[1], 1, 1, &gid) &&
			     !ib_find_gid(ktest_dev[1], &gid, &port, &at) &&
			     port == 1 && at == 1,
		     "the address of index 1 is found");
	ktest_report(ib_find_gid(ktest_dev[1], &none, &port, NULL) == -ENOENT,
		     "and none that nobody has");
}

static int __init ktest_init(void)
{
	int err;

	if (mistake)
		return make_mistake(mistake);
	err = ib_register_client(&client);
	if (err)
		return err;
	if (!ktest_dev[0] || !ktest_dev[1]) {
		pr_err("softroce_ktest: no RDMA device %s or %s\n", dev, dev2);
		ib_unregister_client(&client);
		return -ENODEV;
	}
	test_client();
	test_tables();
	test_api();
	test_transfers();
	test_contexts();
	test_drain();
	test_fast_reg();
	test_datagrams();
	test_pools();
	test_rw();
	test_mr_pool();
	test_gsi();
	test_own();
	gsi_stay();
	if (!failures)
		return 0;
	ib_unregister_client(&client);
	return -EIO;
}

static void __exit ktest_exit(void)
{
	ib_unregister_client(&client);
	if (ktest_dev[0] || ktest_dev[1])
		pr_info("softroce_ktest: not ok - a device was not taken away\n");
}

module_init(ktest_init);
module_exit(ktest_exit);

MODULE_DESCRIPTION("softroce: test of what kernel consumers use");
MODULE_LICENSE("Dual BSD/GPL");
