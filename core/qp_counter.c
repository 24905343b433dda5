// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Counters of single queue pairs: who is counted where.
 *
 * The device's counter_lock is held for all that changes here, and the driver is
 * called under it.  A counter is freed without it: its readers take it.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <rdma/ib_hw_stats.h>

#include "device.h"
#include "qp_counter.h"
#include "restrack.h"

#define AUTO_MASKS (RDMA_COUNTER_MASK_QP_TYPE | RDMA_COUNTER_MASK_PID)

/* A driver does all of it, or nothing. */
static int check_driver(const struct ib_device *dev,
			struct netlink_ext_ack *extack)
{
	if (dev->ops.counter_bind_qp)
		return 0;
	NL_SET_ERR_MSG(extack,
		       "this device's driver has no counters for single queue pairs");
	return -EOPNOTSUPP;
}

static struct ib_port_core *port_of(struct ib_device *dev, u32 port)
{
	return &dev->core->ports[port];
}

/**
 * qp_counter_mode - tell how queue pairs come to counters of their own
 * @dev: a registered device
 * @port: its port
 * @mask: result: what queue pairs of one counter have in common, in auto mode
 *
 * Context: process.
 * Return: the mode.
 */
enum rdma_nl_counter_mode qp_counter_mode(struct ib_device *dev, u32 port,
					  u32 *mask)
{
	const struct ib_port_core *slot = port_of(dev, port);
	enum rdma_nl_counter_mode mode = RDMA_COUNTER_MODE_NONE;

	mutex_lock(&dev->core->counter_lock);
	*mask = slot->auto_mask;
	if (slot->auto_mask)
		mode = RDMA_COUNTER_MODE_AUTO;
	else if (slot->num_counters)
		mode = RDMA_COUNTER_MODE_MANUAL;
	mutex_unlock(&dev->core->counter_lock);
	return mode;
}

/**
 * qp_counter_set_auto - let new queue pairs have counters, or not any more
 * @dev: a registered device
 * @port: its port
 * @mask: enum rdma_nl_counter_mask, what queue pairs of one counter have in
 *	common; 0 switches it off, and those that are bound stay so
 * @extack: where the reason goes
 *
 * Context: process.
 * Return: 0, or -EINVAL for a mask that is unknown, -EBUSY while there are
 * counters, -EOPNOTSUPP without counters of queue pairs.
 */
int qp_counter_set_auto(struct ib_device *dev, u32 port, u32 mask,
			struct netlink_ext_ack *extack)
{
	struct ib_port_core *slot = port_of(dev, port);
	int ret;

	ret = check_driver(dev, extack);
	if (ret)
		return ret;
	if (mask & ~AUTO_MASKS) {
		NL_SET_ERR_MSG(extack,
			       "queue pairs are told apart by type and pid, by nothing else");
		return -EINVAL;
	}
	mutex_lock(&dev->core->counter_lock);
	if (mask && mask != slot->auto_mask && slot->num_counters) {
		NL_SET_ERR_MSG(extack,
			       "queue pairs of this port have counters: unbind them, or wait until they are gone");
		ret = -EBUSY;
	} else {
		slot->auto_mask = mask;
	}
	mutex_unlock(&dev->core->counter_lock);
	return ret;
}

/* ---- counters ---- */

/* A counter for @qp that nobody else knows yet, or NULL without memory. */
static struct rdma_counter *new_counter(const struct ib_qp *qp, u32 port)
{
	struct rdma_counter *counter;

	counter = kzalloc(sizeof(*counter), GFP_KERNEL_ACCOUNT);
	if (!counter)
		return NULL;
	counter->device = qp->device;
	counter->port = port;
	counter->mode.mode = RDMA_COUNTER_MODE_MANUAL;
	counter->stats = qp->device->ops.counter_alloc_stats(counter);
	if (!counter->stats) {
		kfree(counter);
		return NULL;
	}
	INIT_LIST_HEAD(&counter->qps);
	rdma_restrack_new(&counter->res, RDMA_RESTRACK_COUNTER);
	rdma_restrack_parent_name(&counter->res, &qp->res);
	return counter;
}

/* Waits for readers, who take the lock: call it without. */
static void free_counter(struct rdma_counter *counter)
{
	if (!counter)
		return;
	rdma_restrack_del(&counter->res);
	if (counter->id)
		counter->device->ops.counter_dealloc(counter);
	rdma_free_hw_stats_struct(counter->stats);
	kfree(counter);
}

static int attach(struct rdma_counter *counter, struct ib_qp *qp)
{
	int ret;

	ret = qp->device->ops.counter_bind_qp(counter, qp);
	if (ret)
		return ret;
	qp->counter = counter;
	list_add_tail(&qp->counter_entry, &counter->qps);
	return 0;
}

/* Of a queue pair that the driver has unbound. Returns a counter to be freed. */
static struct rdma_counter *detach(struct ib_qp *qp)
{
	struct rdma_counter *counter = qp->counter;

	list_del(&qp->counter_entry);
	qp->counter = NULL;
	if (!list_empty(&counter->qps))
		return NULL;
	list_del(&counter->entry);
	port_of(counter->device, counter->port)->num_counters--;
	return counter;
}

/* From here on others find @counter. On failure the caller frees it. */
static int publish(struct rdma_counter *counter, struct ib_qp *qp)
{
	struct ib_device *dev = counter->device;
	int ret;

	ret = attach(counter, qp);
	if (ret)
		return ret;
	list_add_tail(&counter->entry, &dev->core->counters);
	port_of(dev, counter->port)->num_counters++;
	rdma_restrack_add(&counter->res);
	if (counter->res.valid)
		return 0;
	/* No room in the table: nobody could ever read it. */
	dev->ops.counter_unbind_qp(qp);
	detach(qp);
	return -ENOMEM;
}

/* ---- by hand ---- */

/* A queue pair that can be counted and that the caller may see, held. */
static struct ib_qp *get_qp(struct ib_device *dev, u32 port, u32 qpn,
			    struct netlink_ext_ack *extack)
{
	struct rdma_restrack_entry *res;
	struct ib_qp *qp;
	u32 its_port;
	int ret;

	ret = check_driver(dev, extack);
	if (ret)
		return ERR_PTR(ret);
	res = rdma_restrack_get_byid(dev, RDMA_RESTRACK_QP, qpn);
	if (!IS_ERR(res)) {
		qp = container_of(res, struct ib_qp, res);
		its_port = READ_ONCE(qp->port);
		if (rdma_restrack_visible(res) &&
		    (!its_port || its_port == port))
			return qp;
		rdma_restrack_put(res);
	}
	NL_SET_ERR_MSG(extack,
		       "no queue pair with this number on the port; 'rdma resource show qp' lists them");
	return ERR_PTR(-ENOENT);
}

static struct rdma_counter *find_counter(struct ib_device *dev, u32 port,
					 u32 id)
{
	struct rdma_counter *counter;

	list_for_each_entry(counter, &dev->core->counters, entry)
		if (counter->id == id && counter->port == port)
			return counter;
	return NULL;
}

static int join(struct ib_qp *qp, u32 port, u32 id,
		struct netlink_ext_ack *extack)
{
	struct rdma_counter *counter = find_counter(qp->device, port, id);

	if (!counter || !rdma_restrack_visible(&counter->res)) {
		NL_SET_ERR_MSG(extack,
			       "no counter with this number on the port; 'rdma statistic qp show' lists them, and without a number bind makes one");
		return -ENOENT;
	}
	/* Who sees a program's counter sees no kernel module's numbers in it. */
	if (rdma_is_kernel_res(&counter->res) != rdma_is_kernel_res(&qp->res)) {
		NL_SET_ERR_MSG(extack,
			       "queue pairs of programs and of kernel modules have counters apart");
		return -EINVAL;
	}
	return attach(counter, qp);
}

static int bind_locked(struct ib_qp *qp, u32 port, struct rdma_counter *fresh,
		       u32 *id, struct netlink_ext_ack *extack)
{
	int ret;

	if (port_of(qp->device, port)->auto_mask) {
		NL_SET_ERR_MSG(extack,
			       "the port binds by itself: 'rdma statistic qp set link DEV/PORT auto off' first");
		return -EINVAL;
	}
	if (qp->counter) {
		NL_SET_ERR_MSG(extack,
			       "the queue pair has a counter; unbind it from that first");
		return -EINVAL;
	}
	if (!fresh)
		return join(qp, port, *id, extack);
	ret = publish(fresh, qp);
	*id = fresh->id;
	return ret;
}

/**
 * qp_counter_bind - count for a queue pair
 * @dev: a registered device
 * @port: its port
 * @qpn: the queue pair
 * @id: number of a counter, or 0 for a new one; the result is its number
 * @extack: where the reason goes
 *
 * Context: process.
 * Return: 0, or -ENOENT without such a queue pair or counter, -EINVAL when it
 * has one or the port is in auto mode, -EOPNOTSUPP, -ENOMEM.
 */
int qp_counter_bind(struct ib_device *dev, u32 port, u32 qpn, u32 *id,
		    struct netlink_ext_ack *extack)
{
	struct rdma_counter *fresh = NULL;
	struct ib_qp *qp;
	int ret;

	qp = get_qp(dev, port, qpn, extack);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	if (!*id) {
		ret = -ENOMEM;
		fresh = new_counter(qp, port);
		if (!fresh)
			goto put_qp;
	}
	mutex_lock(&dev->core->counter_lock);
	ret = bind_locked(qp, port, fresh, id, extack);
	mutex_unlock(&dev->core->counter_lock);
	if (ret)
		free_counter(fresh);
put_qp:
	rdma_restrack_put(&qp->res);
	return ret;
}

static int unbind_locked(struct ib_qp *qp, u32 port, u32 id,
			 struct rdma_counter **last,
			 struct netlink_ext_ack *extack)
{
	int ret;

	if (!qp->counter || qp->counter->id != id) {
		NL_SET_ERR_MSG(extack,
			       "the queue pair is not bound to this counter; see 'rdma statistic qp show'");
		return -EINVAL;
	}
	if (port_of(qp->device, port)->auto_mask) {
		NL_SET_ERR_MSG(extack,
			       "the port binds by itself: 'rdma statistic qp set link DEV/PORT auto off' first");
		return -EINVAL;
	}
	ret = qp->device->ops.counter_unbind_qp(qp);
	if (!ret)
		*last = detach(qp);
	return ret;
}

/**
 * qp_counter_unbind - count for a queue pair no more
 * @dev: a registered device
 * @port: its port
 * @qpn: the queue pair
 * @id: the counter it is bound to
 * @extack: where the reason goes
 *
 * A counter without queue pairs ends.  What it counted is in the port's counters
 * from the beginning, so nothing is lost.
 *
 * Context: process.
 * Return: 0, or -ENOENT without such a queue pair, -EINVAL when it is not bound
 * to the counter or the port is in auto mode, -EOPNOTSUPP.
 */
int qp_counter_unbind(struct ib_device *dev, u32 port, u32 qpn, u32 id,
		      struct netlink_ext_ack *extack)
{
	struct rdma_counter *last = NULL;
	struct ib_qp *qp;
	int ret;

	qp = get_qp(dev, port, qpn, extack);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	mutex_lock(&dev->core->counter_lock);
	ret = unbind_locked(qp, port, id, &last, extack);
	mutex_unlock(&dev->core->counter_lock);
	rdma_restrack_put(&qp->res);
	free_counter(last);
	return ret;
}

/* ---- by the port's rule ---- */

static bool rule_fits(const struct rdma_counter *counter,
		      const struct ib_qp *qp, u32 mask)
{
	if (counter->port != qp->port || counter->mode.mask != mask)
		return false;
	if (mask & RDMA_COUNTER_MASK_QP_TYPE &&
	    counter->mode.param.qp_type != qp->qp_type)
		return false;
	return !(mask & RDMA_COUNTER_MASK_PID) ||
	       counter->res.task == qp->res.task;
}

/* True when a counter that fits has taken @qp. */
static bool join_by_rule(struct ib_qp *qp, u32 mask)
{
	struct rdma_counter *counter;

	list_for_each_entry(counter, &qp->device->core->counters, entry)
		if (rule_fits(counter, qp, mask))
			return !attach(counter, qp);
	return false;
}

/**
 * qp_counter_bind_auto - count for a queue pair, if its port is to do so
 * @qp: a queue pair that has its port
 *
 * Only for those of programs.  Without memory for a counter the queue pair works
 * and is counted at its port alone.
 *
 * Context: process.
 */
void qp_counter_bind_auto(struct ib_qp *qp)
{
	struct ib_device *dev = qp->device;
	struct ib_port_core *slot = port_of(dev, qp->port);
	struct rdma_counter *fresh;
	u32 mask;

	if (!READ_ONCE(slot->auto_mask) || rdma_is_kernel_res(&qp->res))
		return;
	fresh = new_counter(qp, qp->port);
	mutex_lock(&dev->core->counter_lock);
	mask = slot->auto_mask;
	if (mask && !qp->counter && !join_by_rule(qp, mask) && fresh) {
		fresh->mode = (struct rdma_counter_mode){
			.mode = RDMA_COUNTER_MODE_AUTO,
			.mask = mask,
			.param.qp_type = qp->qp_type,
		};
		if (!publish(fresh, qp))
			fresh = NULL;
	}
	mutex_unlock(&dev->core->counter_lock);
	free_counter(fresh);
}

/**
 * qp_counter_forget - a queue pair is about to be destroyed
 * @qp: the queue pair, which netlink does not find any more
 *
 * Context: process.
 */
void qp_counter_forget(struct ib_qp *qp)
{
	struct ib_device_core *core = qp->device->core;
	struct rdma_counter *last;

	/* Nobody can bind it any more: no need to look twice. */
	if (!qp->counter)
		return;
	mutex_lock(&core->counter_lock);
	qp->device->ops.counter_unbind_qp(qp);
	last = detach(qp);
	mutex_unlock(&core->counter_lock);
	free_counter(last);
}
