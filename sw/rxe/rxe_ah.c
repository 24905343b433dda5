// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Address handles.  They are checked here, once; datagrams take the address
 * from here and never from memory that a program can write.
 */
#include <rdma/ib_addr.h>
#include "rxe_ah.h"

static DEFINE_XARRAY_ALLOC1(ah_table);
static u32 ah_next;

static bool is_ipv4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid);
}

static int check_attr(const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || attr->port_num != 1 ||
	    !(attr->ah_flags & IB_AH_GRH) || !grh->sgid_attr)
		return -EINVAL;
	if (grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;
	if (rdma_is_zero_gid(&grh->dgid) ||
	    is_ipv4(&grh->dgid) != is_ipv4(&grh->sgid_attr->gid))
		return -EINVAL;
	return 0;
}

static int number_ah(struct rxe_ah *ah, struct ib_udata *udata)
{
	struct rxe_create_ah_resp resp = {};
	int ret;

	ret = xa_alloc_cyclic(&ah_table, &ah->num, ah, xa_limit_31b, &ah_next,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return -ENOMEM;
	resp.ah_num = ah->num;
	/* Programs older than numbered handles have no room for the answer. */
	if (udata->outlen < sizeof(resp))
		return 0;
	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (ret)
		xa_erase(&ah_table, ah->num);
	return ret;
}

int rxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rxe(ibah->device);
	struct rxe_ah *ah = to_rxe_ah(ibah);
	int ret;

	ret = check_attr(init->ah_attr);
	if (ret)
		return ret;
	ret = rxe_count_object(&rxe->num_ah, RXE_MAX_AH);
	if (ret)
		return ret;
	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL;
	if (udata) {
		ret = number_ah(ah, udata);
		if (ret)
			atomic_dec(&rxe->num_ah);
	}
	return ret;
}

int rxe_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_rxe_ah(ibah)->attr;
	return 0;
}

int rxe_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct rxe_ah *ah = to_rxe_ah(ibah);

	if (ah->num)
		xa_erase(&ah_table, ah->num);
	atomic_dec(&to_rxe(ibah->device)->num_ah);
	return 0;
}
