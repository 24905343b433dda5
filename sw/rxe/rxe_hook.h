/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* A namespace's packets, taken before they reach its sockets. */
#ifndef SOFTROCE_RXE_HOOK_H
#define SOFTROCE_RXE_HOOK_H

struct net;

/*
 * While a namespace has links.  After rxe_hook_del() and synchronize_net()
 * nothing is taken any more.  Process context.
 */
int rxe_hook_add(struct net *net);
void rxe_hook_del(struct net *net);

#endif
