// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Address handles. */
#include "method.h"

static int uverbs_ah_destroy(struct ib_uobject *uobj, struct ib_udata *udata)
{
	return rdma_destroy_ah_user(uobj->object, RDMA_DESTROY_AH_SLEEPABLE,
				    udata);
}

const struct uverbs_object_type uverbs_ah_type = {
	.id = UVERBS_OBJECT_AH,
	.size = sizeof(struct ib_uobject),
	.rank = UVERBS_RANK_AH,
	.destroy = uverbs_ah_destroy,
};

/* An address as a program writes it; what is wrong with it the core says. */
void uverbs_ah_attr_from_user(struct ib_device *ibdev, struct rdma_ah_attr *to,
			      const struct ib_uverbs_ah_attr *from)
{
	memset(to, 0, sizeof(*to));
	to->port_num = from->port_num;
	to->sl = from->sl;
	to->static_rate = from->static_rate;
	if (rdma_is_port_valid(ibdev, from->port_num) &&
	    rdma_protocol_roce(ibdev, from->port_num)) {
		to->type = RDMA_AH_ATTR_TYPE_ROCE;
	} else {
		to->type = RDMA_AH_ATTR_TYPE_IB;
		to->ib.dlid = from->dlid;
		to->ib.src_path_bits = from->src_path_bits;
	}
	if (!from->is_global)
		return;
	to->ah_flags = IB_AH_GRH;
	memcpy(to->grh.dgid.raw, from->grh.dgid, sizeof(to->grh.dgid.raw));
	to->grh.sgid_index = from->grh.sgid_index;
	to->grh.flow_label = from->grh.flow_label;
	to->grh.hop_limit = from->grh.hop_limit;
	to->grh.traffic_class = from->grh.traffic_class;
}

int uverbs_w_create_ah(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_create_ah *req =
		uverbs_req(cmd, struct ib_uverbs_create_ah);
	struct rdma_ah_attr attr;
	struct ib_uobject *uobj;
	struct ib_pd *pd;
	struct ib_ah *ah;

	pd = uverbs_object_use(cmd, &uverbs_pd_type, req->pd_handle);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	uobj = uverbs_object_create(cmd, &uverbs_ah_type);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	uobj->user_handle = req->user_handle;
	uverbs_ah_attr_from_user(cmd->ibdev, &attr, &req->attr);
	ah = rdma_create_user_ah(pd, &attr, &cmd->bundle.driver_udata);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ah->uobject = uobj;
	uobj->object = ah;
	uverbs_resp(cmd, struct ib_uverbs_create_ah_resp)->ah_handle = uobj->id;
	return 0;
}

int uverbs_w_destroy_ah(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_destroy_ah *req =
		uverbs_req(cmd, struct ib_uverbs_destroy_ah);

	return uverbs_object_destroy(cmd->file, &uverbs_ah_type,
				     req->ah_handle, NULL);
}

int uverbs_m_ah_destroy(struct uverbs_cmd *cmd)
{
	u32 id = uverbs_attr_handle(cmd, UVERBS_ATTR_DESTROY_AH_HANDLE);

	return uverbs_object_destroy(cmd->file, &uverbs_ah_type, id, NULL);
}
