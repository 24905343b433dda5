// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * UDP port 4791 of the network namespaces, and which links each of them has.
 *
 * The sockets own the port and hand over what arrives there; sending does not
 * go through them.  A link is on its namespace's list from before it registers
 * until the core frees it or the namespace ends, whichever comes first.  An end
 * of a namespace holds up the ends of all others, and the making of new ones: so
 * it takes from its links all that belongs to it and waits for none of them.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>
#include <softroce/extack.h>
#include "rxe.h"
#include "rxe_hook.h"
#include "rxe_net.h"

struct rxe_pernet {
	struct list_head links;
	struct socket *sock4;
	struct socket *sock6;
};

static unsigned int rxe_pernet_id;
/* The links and sockets of all namespaces, against changes. */
static DEFINE_MUTEX(rxe_net_mutex);
static DECLARE_WAIT_QUEUE_HEAD(rxe_net_wait);

static int rxe_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	rxe_rcv(sock_net(sk), skb);
	return 0;
}

static int open_port(struct net *net, sa_family_t family, struct socket **sock)
{
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(ROCE_V2_UDP_DPORT),
		/* IPv6 only; zero checksums are accepted. */
		.ipv6_v6only = 1,
		.use_udp6_rx_checksums = 0,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = rxe_encap_rcv,
	};
	int err;

	err = udp_sock_create(net, &port, sock);
	if (err)
		return err;
	setup_udp_tunnel_sock(net, *sock, &tunnel);
	return 0;
}

static void close_port(struct socket **sock)
{
	if (*sock)
		udp_tunnel_sock_release(*sock);
	*sock = NULL;
}

static void close_ports(struct rxe_pernet *pernet)
{
	close_port(&pernet->sock6);
	close_port(&pernet->sock4);
}

static int open_ports(struct net *net, struct rxe_pernet *pernet,
		      struct netlink_ext_ack *extack)
{
	int family = 4;
	int err;

	err = open_port(net, AF_INET, &pernet->sock4);
	if (err)
		goto tell;
	/* A kernel that was told to do without IPv6 has IPv4 all the same. */
	if (!IS_ENABLED(CONFIG_IPV6) || !ipv6_mod_enabled())
		return 0;
	family = 6;
	err = open_port(net, AF_INET6, &pernet->sock6);
	if (!err || err == -EAFNOSUPPORT)
		return 0;
tell:
	if (err == -EADDRINUSE)
		softroce_extack(extack,
				"UDP port 4791 (IPv%d) is taken in this namespace; ss -ulnp shows by whom",
				family);
	else
		softroce_extack(extack,
				"cannot open UDP port 4791 for IPv%d: error %d",
				family, err);
	return err;
}

/* Sockets and hook, both or neither. */
static int open_net(struct net *net, struct rxe_pernet *pernet,
		    struct netlink_ext_ack *extack)
{
	int err;

	err = open_ports(net, pernet, extack);
	if (!err)
		err = rxe_hook_add(net);
	if (err)
		close_ports(pernet);
	return err;
}

static void close_net(struct net *net, struct rxe_pernet *pernet)
{
	rxe_hook_del(net);
	close_ports(pernet);
}

struct rxe_dev *rxe_net_find(struct net *net, const struct net_device *ndev)
{
	struct rxe_pernet *pernet = net_generic(net, rxe_pernet_id);
	struct rxe_dev *rxe;

	list_for_each_entry_rcu(rxe, &pernet->links, net_entry,
				lockdep_is_held(&rxe_net_mutex))
		if (READ_ONCE(rxe->ndev) == ndev)
			return rxe;
	return NULL;
}

struct rxe_dev *rxe_net_next(struct net *net, struct rxe_dev *rxe)
{
	struct rxe_pernet *pernet = net_generic(net, rxe_pernet_id);
	struct list_head *at = rxe ? &rxe->net_entry : &pernet->links;

	return list_next_or_null_rcu(&pernet->links, at, struct rxe_dev,
				     net_entry);
}

int rxe_net_get(struct rxe_dev *rxe, struct net *net,
		struct netlink_ext_ack *extack)
{
	struct rxe_pernet *pernet = net_generic(net, rxe_pernet_id);
	struct rxe_dev *other;
	int err = 0;

	mutex_lock(&rxe_net_mutex);
	other = rxe_net_find(net, rxe->ndev);
	if (other) {
		softroce_extack(extack,
				"netdev %s already has the RDMA link %.32s",
				rxe->ndev->name, other->ib.name);
		err = -EEXIST;
	} else if (list_empty(&pernet->links)) {
		err = open_net(net, pernet, extack);
	}
	if (!err) {
		rxe->net = net;
		list_add_tail_rcu(&rxe->net_entry, &pernet->links);
	}
	mutex_unlock(&rxe_net_mutex);
	return err;
}

void rxe_net_put(struct rxe_dev *rxe)
{
	struct rxe_pernet *pernet;

	mutex_lock(&rxe_net_mutex);
	if (rxe->net) {
		pernet = net_generic(rxe->net, rxe_pernet_id);
		list_del_rcu(&rxe->net_entry);
		if (list_empty(&pernet->links))
			close_net(rxe->net, pernet);
		rxe->net = NULL;
	}
	mutex_unlock(&rxe_net_mutex);
	/* Whoever took it off the list, a packet may have found it before. */
	synchronize_net();
}

static int __net_init rxe_pernet_init(struct net *net)
{
	struct rxe_pernet *pernet = net_generic(net, rxe_pernet_id);

	INIT_LIST_HEAD(&pernet->links);
	return 0;
}

/* A grace period after the link was told that it is gone. */
static void leave_net(struct rxe_dev *rxe)
{
	rxe_routes_end(rxe);
	rxe_forget_netdev(rxe);
	list_del_rcu(&rxe->net_entry);
	rxe->net = NULL;
}

/*
 * The namespace has no user any more, so that no link is added.  What is left of
 * its links is unregistered without it.
 */
static void __net_exit rxe_pernet_pre_exit(struct net *net)
{
	struct rxe_pernet *pernet = net_generic(net, rxe_pernet_id);
	struct rxe_dev *rxe, *next;

	mutex_lock(&rxe_net_mutex);
	if (list_empty(&pernet->links))
		goto unlock;
	list_for_each_entry(rxe, &pernet->links, net_entry)
		rxe_link_end(rxe);
	close_net(net, pernet);
	/* Who has not seen that they are gone is done with the namespace. */
	synchronize_net();
	list_for_each_entry_safe(rxe, next, &pernet->links, net_entry)
		leave_net(rxe);
unlock:
	mutex_unlock(&rxe_net_mutex);
}

static struct pernet_operations rxe_pernet_ops = {
	.init = rxe_pernet_init,
	.pre_exit = rxe_pernet_pre_exit,
	.id = &rxe_pernet_id,
	.size = sizeof(struct rxe_pernet),
};

int rxe_net_init(void)
{
	return register_pernet_subsys(&rxe_pernet_ops);
}

void rxe_net_exit(void)
{
	unregister_pernet_subsys(&rxe_pernet_ops);
	/* A packet may still be in rxe_encap_rcv(). */
	synchronize_net();
}
