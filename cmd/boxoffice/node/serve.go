package node

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"boxoffice/cmd/boxoffice/crowd"
	"boxoffice/edge"
	"boxoffice/edge/mcp"
	"boxoffice/edge/openapi"
	"boxoffice/edge/server"
	"boxoffice/edge/server/buckets"
	"boxoffice/edge/sse"
	"boxoffice/edge/webhook"
)

// startEdge starts the server that lets requests in. It comes when everything that a request may need is there. Captured
// mail and the crowd of simulated buyers are served only if the node's address is this machine's own.
func (n *Node) startEdge(ctx context.Context) error {
	proxies, err := n.cfg.readProxies()
	if err != nil {
		return err
	}
	ops := n.areas.Routes()
	// The document is made when it is first asked for, because that takes a core for a second.
	document := sync.OnceValues(func() (*openapi.Document, error) { return Document(n.cfg.BaseURL) })
	agents := sync.OnceValues(func() (*mcp.Server, error) {
		doc, err := document()
		if err != nil {
			return nil, err
		}
		return mcp.New(mcp.Config{Ops: ops, Document: doc.JSON, BaseURL: n.cfg.BaseURL, Version: Version, Facts: n.publicFacts, Log: n.log})
	})
	var mailbox fasthttp.RequestHandler
	if n.mailbox != nil && servesThisMachine(n.cfg.BaseURL) {
		mailbox = n.mailbox.Page
	}
	// A crowd of simulated buyers may be let in only by people on this machine.
	var rush fasthttp.RequestHandler
	var buyers *crowd.Crowd
	if n.cfg.Crowd && servesThisMachine(n.cfg.BaseURL) {
		if buyers, err = crowd.New(n.cfg.Listen); err != nil {
			return err
		}
		rush = buyers.Serve
	}
	uploads, err := n.uploadDir()
	if err != nil {
		return err
	}
	n.registry = n.metrics()
	hub, err := sse.New(sse.Config{MaxViewers: n.cfg.MaxViewers, MaxPerAddress: n.cfg.ViewersPerAddress, Metrics: n.registry, Log: n.log})
	if err != nil {
		return err
	}
	n.started(hub.Stop)
	n.server, err = server.New(server.Config{
		Ops: ops, Agents: agents, Env: n.cfg.Env, Authenticate: n.areas.Identity.Authenticate, Ready: n.Ready, Lacking: n.Lacking, Full: n.disk.Full, TrustedProxies: proxies,
		Hub: hub, Wrote: n.cluster.NoteWrite, ShowOwn: n.ShowOwn,
		Limits:  buckets.New(n.cfg.LimitsScale, n.orders.ReadToken),
		Replies: &server.Replies{Store: n.replies, Secrets: n.secrets}, Requests: n.requests, Quota: n.quota,
		BaseURL: n.cfg.BaseURL, Origins: n.cfg.Origins, PublicCache: n.cfg.PublicCache, HTTPS: strings.HasPrefix(n.cfg.BaseURL, "https://"),
		MaxPerAddress: n.cfg.MaxPerAddress, MaxConnections: n.cfg.MaxConnections, Document: document, Mailbox: mailbox, Rush: rush, KeySet: n.areas.Identity.KeySet, OrderPage: n.areas.Sales.OrderPage,
		Shop:      &server.Shop{Event: n.areas.Catalog.ShopEvent, Embed: n.areas.Catalog.ShopEmbed, Card: n.areas.Catalog.ShopCard, Organizer: n.areas.Catalog.ShopOrganizer, Calendar: n.areas.Catalog.ShopCalendar, Paths: n.areas.Catalog.ShopPaths},
		UploadDir: uploads, Now: n.cfg.Now,
		Log: n.log, Metrics: n.registry,
	})
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.Listen)
	if err != nil {
		return fmt.Errorf("BOXOFFICE_LISTEN: %w", err)
	}
	n.server.Start(ln)
	n.started(n.server.Stop)
	if buyers != nil {
		n.started(buyers.Stop)
	}
	return nil
}

// servesThisMachine reports whether people reach the node only on this machine, going by its base
// URL. Otherwise strangers could open its pages, and captured mail must not be shown to them.
func servesThisMachine(baseURL string) bool {
	u, err := url.Parse(baseURL)
	return err == nil && server.LoopbackHost(u.Host)
}

// Document returns the OpenAPI document of the API at an address.
func Document(baseURL string) (*openapi.Document, error) {
	return openapi.Print(new(edge.Areas).Routes(), openapi.Info{
		Title: "Boxoffice", Version: Version, BaseURL: baseURL, Webhooks: webhook.Catalogue,
	})
}
