// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Port and device events: from any context of a driver to the handlers of
 * kernel consumers, which may sleep.
 *
 * Lifetime: an event on its way holds the device's registration count, so
 * unregistration's drain waits for it, and events of an unpublished device are
 * dropped.  One ordered workqueue keeps the order in which they were raised.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <device.h>

struct event_work {
	struct work_struct work;
	struct ib_event event;
};

static struct workqueue_struct *event_wq;

/* The state that consumers look up has to be new when they hear of it. */
static void refresh_before(const struct ib_event *event)
{
	switch (event->event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		ib_port_refresh(event->device, event->element.port_num);
		break;
	default:
		break;
	}
}

static void deliver(struct work_struct *work)
{
	struct event_work *w = container_of(work, struct event_work, work);
	struct ib_device_core *core = w->event.device->core;
	struct ib_event_handler *handler;

	refresh_before(&w->event);

	down_read(&core->event_rwsem);
	list_for_each_entry(handler, &core->event_handlers, list)
		handler->handler(handler, &w->event);
	up_read(&core->event_rwsem);

	ib_device_put(w->event.device);
	kfree(w);
}

/**
 * ib_dispatch_event - tell the consumers of a port or device event
 * @event: copied
 *
 * Events of QPs, CQs and SRQs go to those objects' own handlers instead.
 *
 * Context: any.
 */
void ib_dispatch_event(const struct ib_event *event)
{
	struct event_work *w;

	if (!ib_device_try_get(event->device))
		return;

	w = kmalloc(sizeof(*w), GFP_ATOMIC);
	if (!w)
		goto lost;

	INIT_WORK(&w->work, deliver);
	w->event = *event;
	queue_work(event_wq, &w->work);
	return;

lost:
	ibdev_warn_ratelimited(event->device, "event lost: %s\n",
			       ib_event_msg(event->event));
	ib_device_put(event->device);
}
EXPORT_SYMBOL(ib_dispatch_event);

/**
 * ib_register_event_handler - hear of a device's events
 * @event_handler: from INIT_IB_EVENT_HANDLER()
 *
 * Context: process, not from a handler.
 */
void ib_register_event_handler(struct ib_event_handler *event_handler)
{
	struct ib_device_core *core = event_handler->device->core;

	down_write(&core->event_rwsem);
	list_add_tail(&event_handler->list, &core->event_handlers);
	up_write(&core->event_rwsem);
}
EXPORT_SYMBOL(ib_register_event_handler);

/**
 * ib_unregister_event_handler - hear no more
 * @event_handler: as registered; does not run any more on return
 *
 * Context: process, not from a handler.
 */
void ib_unregister_event_handler(struct ib_event_handler *event_handler)
{
	struct ib_device_core *core = event_handler->device->core;

	down_write(&core->event_rwsem);
	list_del_init(&event_handler->list);
	up_write(&core->event_rwsem);
}
EXPORT_SYMBOL(ib_unregister_event_handler);

int ib_event_init(void)
{
	event_wq = alloc_ordered_workqueue("softroce_event", 0);
	return event_wq ? 0 : -ENOMEM;
}

void ib_event_exit(void)
{
	destroy_workqueue(event_wq);
}
