package security

import (
	"fmt"
	"strings"

	"boxoffice/cmd/boxoffice/nodetest"
)

// webhookRequests are those that manage what the world is told.
func (w *world) webhookRequests() map[string]func() request {
	endpoint := func() request { return naming("id", w.Webhook()) }
	fields := nodetest.Object{"url": nodetest.Silent, "events": []string{"order.failed", "event.completed"}, "name": "Books"}
	return map[string]func() request{
		"createWebhook": func() request {
			w.RoomForWebhooks()
			return request{body: nodetest.With(fields, nodetest.Object{"orgId": w.orgID}), ids: map[string]string{"orgId": kindOrg}}
		},
		"listWebhooks":        w.ours,
		"updateWebhook":       func() request { return endpoint().with(nodetest.With(fields, nodetest.Object{"status": "active"})) },
		"deleteWebhook":       endpoint,
		"testWebhook":         endpoint,
		"rotateWebhookSecret": endpoint,
		"listWebhookDeliveries": func() request {
			r := endpoint()
			w.Sent(r.params["id"])
			return r
		},
		"getWebhookDelivery":    func() request { return naming("id", w.Sent(w.Webhook())) },
		"replayWebhookDelivery": func() request { return naming("id", w.Sent(w.Webhook())) },
	}
}

// factRequests are those about what the world is told.
func (w *world) factRequests() map[string]func() request {
	return map[string]func() request{
		"listFacts": func() request {
			r := w.ours()
			r.query += "&types=event.created&limit=1"
			w.Becomes("true", func() string {
				return fmt.Sprint(len(w.Own("GET", nodetest.FactsPath+"?"+r.query, nil).Is(200, "").Data("items").([]any)) == 1)
			})
			return r
		},
		"listFactTypes": func() request { return request{} },
	}
}

func (w *world) mediaRequests() map[string]func() request {
	file := func() *nodetest.Upload {
		return &nodetest.Upload{Name: "notes.txt", Type: "text/plain", Body: []byte("hello"), Fields: map[string]string{"orgId": w.orgID}}
	}
	return map[string]func() request{
		"uploadFile": func() request { return request{file: file()} },
		"uploadImage": func() request {
			return request{file: &nodetest.Upload{Name: "cover.png", Type: "image/png", Body: nodetest.PNG(w.T, 40, 30), Fields: map[string]string{"orgId": w.orgID}}}
		},
		"getMediaVariant": func() request {
			image := nodetest.Upload{Name: "cover.png", Type: "image/png", Body: nodetest.PNG(w.T, 40, 30), Fields: map[string]string{"orgId": w.orgID}}
			made := w.Upload("/media/upload", image, w.Bearer()...)
			for made.Status == 429 { // an organization's images are made one after the other
				made = w.Upload("/media/upload", image, w.Bearer()...)
			}
			r := naming("id", numberOf(made), "variant", "web.webp")
			r.open = true
			return r
		},
		"getMedia": func() request {
			u := file()
			r := naming("id", numberOf(w.Upload("/media/upload-file", *u, w.Bearer()...)))
			r.open = true
			return r
		},
	}
}

// numberOf reads an uploaded file's number.
func numberOf(a nodetest.Answer) string {
	a.T.Helper()
	return strings.TrimPrefix(a.Is(201, "").Str("primaryUrl"), "/media/")
}
