/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Event files: descriptors from which a program reads completion events (a
 * completion channel) or asynchronous events.
 *
 * Lifetime: references are held by the open descriptor, by each CQ and QP whose
 * events go there, and by the uverbs file whose default it is.  The descriptor
 * also holds the uverbs file.  Once @closed nothing is queued any more; what is
 * queued can still be read.
 *
 * Counting: a destroy reply tells how many events of the object the program has
 * read, no more and no less, or the program waits for ever for itself to
 * acknowledge the rest.  So the count moves when an event is taken by read(),
 * and detaching an object takes its unread events back, both under @lock.
 *
 * Bounds: a softirq that queues an event has nobody to charge it to.  So one of
 * a kind waits for an object at most, with a count, and one for a port: what
 * waits is a part of what the objects and files took, which is charged.
 */
#ifndef SOFTROCE_UVERBS_EVENT_FILE_H
#define SOFTROCE_UVERBS_EVENT_FILE_H

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

struct uverbs_cmd;

/**
 * struct uverbs_event - something to be read
 * @queue_entry: in uverbs_event_file.queue, or empty
 * @object_entry: in uverbs_event_source.unread or uverbs_event_file.unread, or
 *	empty
 * @element: what it is about: the program's own name for the object, or a port
 * @type: enum ib_event_type, of asynchronous events
 * @times: how often it is to be read
 * @told: counts the times it was read, or NULL
 * @embedded: part of another structure, not to be freed
 */
struct uverbs_event {
	struct list_head queue_entry;
	struct list_head object_entry;
	u64 element;
	u32 type;
	u32 times;
	u32 *told;
	bool embedded;
};

/**
 * struct uverbs_event_file - a completion channel or an async event file
 * @ref: references
 * @async: which of the two
 * @ufile: the uverbs file; valid while the descriptor is open
 * @entry: in ib_uverbs_file.event_files, under the uverbs file's lock
 * @listening: @port_events is registered, under the uverbs file's lock
 * @port_events: port and device events, of async files
 * @lock: guards what follows
 * @closed: no more events
 * @queue: struct uverbs_event in order
 * @unread: of those, the ports'
 * @fatal: the device is gone; always has a place
 * @wait: readers
 * @fasync: receivers of SIGIO
 */
struct uverbs_event_file {
	struct kref ref;
	bool async;
	struct ib_uverbs_file *ufile;
	struct list_head entry;
	bool listening;
	struct ib_event_handler port_events;

	/* guards what follows */
	spinlock_t lock;
	bool closed;
	struct list_head queue;
	struct list_head unread;
	struct uverbs_event fatal;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
};

/**
 * struct uverbs_event_source - the asynchronous events of one object
 * @file: where they go, with a reference, or NULL
 * @unread: struct uverbs_event, under the file's lock
 * @told: number of events that were read
 */
struct uverbs_event_source {
	struct uverbs_event_file *file;
	struct list_head unread;
	u32 told;
};

/**
 * struct uverbs_comp_source - the completion events of one CQ
 * @file: the completion channel, with a reference, or NULL
 * @event: queued while completions are to be told
 * @told: number of events that were read
 */
struct uverbs_comp_source {
	struct uverbs_event_file *file;
	struct uverbs_event event;
	u32 told;
};

int uverbs_event_file_create(struct uverbs_cmd *cmd, bool async);
struct uverbs_event_file *uverbs_event_file_get(struct ib_uverbs_file *ufile,
						s64 fd, bool async);
void uverbs_event_file_put(struct uverbs_event_file *ef);
void uverbs_event_file_make_default(struct uverbs_event_file *ef);
void uverbs_event_file_fatal(struct uverbs_event_file *ef);
void uverbs_event_file_close(struct uverbs_event_file *ef);

int uverbs_event_source_open(struct uverbs_cmd *cmd,
			     struct uverbs_event_source *src, s64 fd);
void uverbs_event_source_post(struct uverbs_event_source *src, u64 element,
			      u32 type);
void uverbs_event_source_detach(struct uverbs_event_source *src);

void uverbs_comp_source_init(struct uverbs_comp_source *src,
			     struct uverbs_event_file *file, u64 element);
void uverbs_comp_source_post(struct uverbs_comp_source *src);
void uverbs_comp_source_detach(struct uverbs_comp_source *src);

#endif
