// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* rdma_rxe.ko: comes and goes. */
#include <linux/init.h>
#include <linux/module.h>
#include <rdma/rdma_netlink.h>
#include <softroce.h>
#include "rxe_ah.h"
#include "rxe_crc.h"
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_net.h"
#include "rxe_qp.h"
#include "rxe_train.h"

static int __init rxe_module_init(void)
{
	int err;

	err = rxe_crc_init();
	if (err)
		return err;
	err = rxe_mr_init();
	if (err)
		goto exit_crc;
	err = rxe_qp_table_init();
	if (err)
		goto exit_mr;
	err = rxe_route_init();
	if (err)
		goto exit_qp_table;
	err = rxe_net_init();
	if (err)
		goto exit_route;
	err = rxe_link_init();
	if (err)
		goto exit_net;
	return 0;

exit_net:
	rxe_net_exit();
exit_route:
	rxe_route_exit();
exit_qp_table:
	rxe_qp_table_exit();
exit_mr:
	rxe_mr_exit();
exit_crc:
	rxe_crc_exit();
	return err;
}

static void __exit rxe_module_exit(void)
{
	/* Ends all links, and with them everything made on them. */
	rxe_link_exit();
	rxe_net_exit();
	rxe_route_exit();
	rxe_qp_table_exit();
	rxe_train_exit();
	rxe_ah_exit();
	rxe_mw_exit();
	rxe_mr_exit();
	rxe_crc_exit();
	/* What the links' objects left to call_rcu(). */
	rcu_barrier();
}

module_init(rxe_module_init);
module_exit(rxe_module_exit);

MODULE_DESCRIPTION("softroce: RDMA over any network interface (RoCEv2)");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("rxe");
