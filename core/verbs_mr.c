// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The verbs of memory regions: of programs, and of fast registration. */
#include <linux/export.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <rdma/ib_umem.h>
#include "verbs.h"
#include "verbs_user.h"

static int check_user_mr(struct ib_device *device, u64 start, u64 length,
			 u64 virt, int access)
{
	u64 caps = device->attrs.device_cap_flags;
	u64 end;
	int ret;

	ret = ib_check_mr_access(device, access);
	if (ret)
		return ret;
	if (access & IB_ACCESS_ON_DEMAND)
		return -EOPNOTSUPP;
	if ((access & IB_ACCESS_FLUSH_GLOBAL &&
	     !(caps & IB_UVERBS_DEVICE_FLUSH_GLOBAL)) ||
	    (access & IB_ACCESS_FLUSH_PERSISTENT &&
	     !(caps & IB_UVERBS_DEVICE_FLUSH_PERSISTENT)))
		return -EOPNOTSUPP;

	if (length > device->attrs.max_mr_size) {
		verbs_refuse(device, "MR of %llu bytes, limit %llu", length,
			     device->attrs.max_mr_size);
		return -EINVAL;
	}
	if (check_add_overflow(start, length, &end) ||
	    check_add_overflow(virt, length, &end)) {
		verbs_refuse(device, "MR wraps around the address space");
		return -EINVAL;
	}
	if (offset_in_page(start) != offset_in_page(virt)) {
		verbs_refuse(device, "MR at %#llx and %#llx within a page",
			     start & ~PAGE_MASK, virt & ~PAGE_MASK);
		return -EINVAL;
	}
	return 0;
}

/* What it is, once the driver has made it. */
static void fill_mr(struct ib_mr *mr, struct ib_pd *pd, enum ib_mr_type type)
{
	mr->device = pd->device;
	mr->pd = pd;
	mr->type = type;
	mr->uobject = NULL;
	mr->umem = NULL;
	verbs_name_as(&mr->res, RDMA_RESTRACK_MR, &pd->res);
}

/* @umem: of a device that has reg_umem_mr. */
static struct ib_mr *reg_mr(struct ib_pd *pd, struct ib_umem *umem, u64 start,
			    u64 length, u64 virt, int access,
			    struct ib_uobject *uobj, struct ib_udata *udata)
{
	const struct ib_device_ops *ops = &pd->device->ops;
	struct ib_mr *mr;

	atomic_inc(&pd->usecnt);
	if (umem)
		mr = ops->reg_umem_mr(pd, umem, virt, access);
	else
		mr = ops->reg_user_mr(pd, start, length, virt, access, udata);
	if (IS_ERR(mr)) {
		atomic_dec(&pd->usecnt);
		return mr;
	}
	fill_mr(mr, pd, IB_MR_TYPE_USER);
	mr->iova = virt;
	mr->length = length;
	mr->uobject = uobj;
	mr->umem = umem;
	mr->access = access;
	rdma_restrack_add(&mr->res);
	return mr;
}

/**
 * rdma_reg_user_mr_pin - tell what a registration wants pinned before it
 * @device: the device
 * @start: as for rdma_reg_user_mr()
 * @length: the same
 * @virt: the same
 * @access: the same
 * @pin: what is to be pinned, for ib_umem_pin()
 *
 * Context: process.
 * Return: 0, or an errno and the registration is refused.
 */
int rdma_reg_user_mr_pin(struct ib_device *device, u64 start, u64 length,
			 u64 virt, int access, struct rdma_pin *pin)
{
	*pin = (struct rdma_pin){
		.wanted = device->ops.reg_umem_mr,
		.start = start,
		.length = length,
		.access = access,
	};
	if (!pin->wanted && !device->ops.reg_user_mr)
		return -EOPNOTSUPP;
	return check_user_mr(device, start, length, virt, access);
}
EXPORT_SYMBOL(rdma_reg_user_mr_pin);

/**
 * ib_reg_user_mr - register memory of the current program for a kernel consumer
 * @pd: the PD it will be in
 * @start: first byte in the program's address space
 * @length: bytes
 * @virt_addr: the address it has for the device, in the same place of a page
 * @mr_access_flags: enum ib_access_flags
 *
 * Context: process, may sleep.
 * Return: the MR, for ib_dereg_mr(), or an ERR_PTR.
 */
struct ib_mr *ib_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			     u64 virt_addr, int mr_access_flags)
{
	struct ib_umem *umem = NULL;
	struct rdma_pin pin;
	struct ib_mr *mr;
	int ret;

	ret = rdma_reg_user_mr_pin(pd->device, start, length, virt_addr,
				   mr_access_flags, &pin);
	if (ret)
		return ERR_PTR(ret);
	if (pin.wanted)
		umem = ib_umem_pin(start, length, mr_access_flags);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = reg_mr(pd, umem, start, length, virt_addr, mr_access_flags, NULL,
		    NULL);
	if (IS_ERR(mr))
		ib_umem_release(umem);
	return mr;
}
EXPORT_SYMBOL(ib_reg_user_mr);

/**
 * rdma_reg_user_mr - register a program's memory for itself
 * @pd: the PD it will be in
 * @umem: memory that rdma_reg_user_mr_pin() wanted, or NULL; with success it
 *	becomes the region's, and NULL
 * @start: first byte
 * @length: bytes
 * @virt: the address it has for the device, in the same place of a page
 * @access: enum ib_access_flags
 * @uobj: what stands for the MR in the program's file
 * @udata: the driver's part of the command
 *
 * All that rdma_reg_user_mr_pin() looked at is as it was then.
 *
 * Context: process, may sleep.
 * Return: the MR, for ib_dereg_mr_user(), or an ERR_PTR: -EINVAL for access
 * flags that contradict each other or a range that wraps, -EOPNOTSUPP for
 * flags that the device does not have, or what ib_umem_pin() says.
 */
struct ib_mr *rdma_reg_user_mr(struct ib_pd *pd, struct ib_umem **umem,
			       u64 start, u64 length, u64 virt, int access,
			       struct ib_uobject *uobj, struct ib_udata *udata)
{
	struct ib_mr *mr = reg_mr(pd, *umem, start, length, virt, access, uobj,
				  udata);

	if (!IS_ERR(mr))
		*umem = NULL;
	return mr;
}
EXPORT_SYMBOL(rdma_reg_user_mr);

/* ---- registration again ---- */

/* Whether @mr, with @access, has to get other memory than it has. */
static bool rereg_pins(const struct ib_mr *mr, int flags, int access)
{
	if (!mr->device->ops.rereg_umem_mr)
		return false;
	return flags & IB_MR_REREG_TRANS ||
	       (access & IB_UMEM_WRITING && !mr->umem->writable);
}

/**
 * rdma_rereg_user_mr_pin - tell what a re-registration wants pinned before it
 * @mr: the MR; nobody changes it meanwhile
 * @flags: as for rdma_rereg_user_mr()
 * @start: the same
 * @length: the same
 * @virt: the same
 * @access: the same
 * @pin: what is to be pinned, for ib_umem_pin()
 *
 * Memory that stays is not pinned anew, but to be written to; another process's
 * cannot be.
 *
 * Context: process.
 * Return: 0, or an errno and the re-registration is refused.
 */
int rdma_rereg_user_mr_pin(struct ib_mr *mr, int flags, u64 start, u64 length,
			   u64 virt, int access, struct rdma_pin *pin)
{
	const struct ib_device_ops *ops = &mr->device->ops;
	bool trans = flags & IB_MR_REREG_TRANS;
	int ret;

	if (!ops->rereg_user_mr && !ops->rereg_umem_mr)
		return -EOPNOTSUPP;
	ret = check_user_mr(mr->device, trans ? start : 0, trans ? length : 0,
			    trans ? virt : 0,
			    flags & IB_MR_REREG_ACCESS ? access : 0);
	if (ret)
		return ret;
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	*pin = (struct rdma_pin){ .wanted = rereg_pins(mr, flags, access) };
	if (!pin->wanted)
		return 0;
	if (!trans && mr->umem->owning_mm != current->mm)
		return -EOPNOTSUPP;
	pin->start = trans ? start : mr->umem->address;
	pin->length = trans ? length : mr->umem->length;
	pin->access = access;
	return 0;
}
EXPORT_SYMBOL(rdma_rereg_user_mr_pin);

/* @umem was pinned before @mr was held, and may be for what it was then. */
static bool still_fits(const struct ib_mr *mr, const struct ib_umem *umem,
		       int flags, int access)
{
	if (!umem || (access & IB_UMEM_WRITING && !umem->writable))
		return false;
	return flags & IB_MR_REREG_TRANS ||
	       (umem->owning_mm == mr->umem->owning_mm &&
		umem->address == mr->umem->address &&
		umem->length == mr->umem->length);
}

/* The driver's part.  Memory that is not used any more is in @umem then. */
static int rereg_umem(struct ib_mr *mr, struct ib_umem **umem, int flags,
		      u64 virt, int access, struct ib_pd *pd)
{
	bool anew;
	int ret;

	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	anew = rereg_pins(mr, flags, access);
	if (anew && !still_fits(mr, *umem, flags, access))
		return -EBUSY;
	ret = mr->device->ops.rereg_umem_mr(mr, anew ? *umem : NULL,
					    flags & IB_MR_REREG_TRANS ?
						    virt : mr->iova,
					    access, pd);
	if (ret)
		return ret;
	mr->access = access;
	if (anew)
		swap(mr->umem, *umem);
	return 0;
}

/**
 * rdma_rereg_user_mr - change a program's memory region
 * @mr: the MR; nobody else does anything with it
 * @umem: memory that rdma_rereg_user_mr_pin() wanted, or NULL; afterwards what
 *	the region does not use, for ib_umem_release()
 * @flags: enum ib_mr_rereg_flags: what changes
 * @start: first byte, with IB_MR_REREG_TRANS
 * @length: bytes, the same
 * @virt: the address it has for the device, the same
 * @access: enum ib_access_flags, with IB_MR_REREG_ACCESS
 * @pd: the PD it will be in, with IB_MR_REREG_PD
 * @udata: the driver's part of the command
 *
 * Of what rdma_rereg_user_mr_pin() looked at @mr may have changed.
 *
 * Context: process, may sleep.
 * Return: 0 and no byte of what it was is read or written any more; or an errno
 * and it is as before: those of rdma_reg_user_mr(), -EBUSY with memory windows
 * or when somebody else has registered it again meanwhile.
 */
int rdma_rereg_user_mr(struct ib_mr *mr, struct ib_umem **umem, int flags,
		       u64 start, u64 length, u64 virt, int access,
		       struct ib_pd *pd, struct ib_udata *udata)
{
	const struct ib_device_ops *ops = &mr->device->ops;
	int ret;

	if (!(flags & IB_MR_REREG_PD))
		pd = mr->pd;

	/* Before anything can be in it, and until nothing is. */
	atomic_inc(&pd->usecnt);
	/* Who lists regions looks at their PDs. */
	rdma_restrack_del(&mr->res);
	if (ops->rereg_umem_mr)
		ret = rereg_umem(mr, umem, flags, virt, access, pd);
	else
		ret = PTR_ERR_OR_ZERO(ops->rereg_user_mr(mr, flags, start,
							 length, virt, access,
							 pd, udata));
	if (!ret) {
		swap(mr->pd, pd);
		if (flags & IB_MR_REREG_TRANS) {
			mr->iova = virt;
			mr->length = length;
		}
	}
	verbs_track_again(&mr->res);
	/* The PD that it is not in, or not any more. */
	atomic_dec(&pd->usecnt);
	return ret;
}
EXPORT_SYMBOL(rdma_rereg_user_mr);

/* ---- the end ---- */

/**
 * ib_dereg_mr_user - end a memory region
 * @mr: the MR
 * @udata: the driver's part of the command; NULL for a kernel consumer's
 *
 * Once it returns 0 no byte of the memory is read or written any more.
 *
 * Context: process, may sleep.
 * Return: 0 and @mr is gone, or the driver's error.
 */
int ib_dereg_mr_user(struct ib_mr *mr, struct ib_udata *udata)
{
	struct ib_umem *umem = mr->umem;
	struct ib_pd *pd = mr->pd;
	int ret;

	rdma_restrack_del(&mr->res);
	ret = mr->device->ops.dereg_mr(mr, udata);
	if (ret) {
		verbs_track_again(&mr->res);
		return ret;
	}
	ib_umem_release(umem);
	atomic_dec(&pd->usecnt);
	return 0;
}
EXPORT_SYMBOL(ib_dereg_mr_user);

/**
 * ib_dereg_mr - end a kernel consumer's memory region
 * @mr: the MR
 *
 * Context: process, may sleep.
 * Return: 0 and @mr is gone, or the driver's error.
 */
int ib_dereg_mr(struct ib_mr *mr)
{
	return ib_dereg_mr_user(mr, NULL);
}
EXPORT_SYMBOL(ib_dereg_mr);

/* ---- fast registration ---- */

/**
 * ib_alloc_mr - make a region that work requests register and invalidate
 * @pd: the PD it is in
 * @mr_type: IB_MR_TYPE_MEM_REG, or IB_MR_TYPE_SG_GAPS for lists with gaps
 * @max_num_sg: largest number of entries, 1 to the device's
 *	max_fast_reg_page_list_len
 *
 * It is good for nothing until an IB_WR_REG_MR has been executed.
 *
 * Context: process, may sleep.
 * Return: the MR, for ib_dereg_mr(), or an ERR_PTR: -EINVAL for too long a list,
 * -EOPNOTSUPP for another type.
 */
struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type,
			  u32 max_num_sg)
{
	struct ib_device *device = pd->device;
	struct ib_mr *mr;

	if (!device->ops.alloc_mr || !device->ops.map_mr_sg ||
	    mr_type == IB_MR_TYPE_INTEGRITY)
		return ERR_PTR(-EOPNOTSUPP);
	atomic_inc(&pd->usecnt);
	mr = device->ops.alloc_mr(pd, mr_type, max_num_sg);
	if (IS_ERR(mr)) {
		atomic_dec(&pd->usecnt);
		return mr;
	}
	fill_mr(mr, pd, mr_type);
	rdma_restrack_add(&mr->res);
	return mr;
}
EXPORT_SYMBOL(ib_alloc_mr);

/**
 * ib_map_mr_sg - choose the memory that the next IB_WR_REG_MR registers
 * @mr: from ib_alloc_mr()
 * @sg: list that ib_dma_map_sg() mapped
 * @sg_nents: entries to map
 * @sg_offset: where to begin in the first, in bytes; NULL: 0
 * @page_size: of the device's pages, in bytes, a power of two
 *
 * @mr->iova and @mr->length tell what it will be.
 *
 * Context: any.
 * Return: how many entries it holds, which may be fewer, or an errno.
 */
int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents,
		 unsigned int *sg_offset, unsigned int page_size)
{
	if (!mr->device->ops.map_mr_sg)
		return -EOPNOTSUPP;
	mr->page_size = page_size;
	return mr->device->ops.map_mr_sg(mr, sg, sg_nents, sg_offset);
}
EXPORT_SYMBOL(ib_map_mr_sg);

/**
 * ib_advise_mr - what a region on demand will be used for
 * @pd: the PD of the regions
 * @advice: what
 * @flags: when
 * @sg_list: where
 * @num_sge: its entries
 *
 * Context: process.
 * Return: -EOPNOTSUPP: all regions are pinned.
 */
int ib_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		 u32 flags, struct ib_sge *sg_list, u32 num_sge)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_advise_mr);
