package security

import (
	"encoding/base32"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
)

// authRequests are those for which somebody proves who they are.
func (w *world) authRequests() map[string]func() request {
	const password = "correct horse"
	signedIn := func() request {
		return request{}.with(nodetest.Object{"refreshToken": w.person(w.email()).Str("refreshToken")})
	}
	protected := func() (p *nodetest.Shop, email, recovery string) {
		email = w.email()
		p, device := w.enrolled(email)
		a := p.Own("POST", "/auth/2fa/activate", nodetest.Object{"code": device.Code(time.Now(), 0)}).Is(200, "")
		return p, email, a.Str("recoveryCodes.0")
	}
	return map[string]func() request{
		"register": func() request {
			return request{}.with(nodetest.Object{"email": w.email(), "password": password, "firstName": "Bob", "lastName": "Hill", "phone": "+49 30 1", "organizationName": "Bob's"})
		},
		"login": func() request { return request{}.with(nodetest.Object{"email": strangerEmail, "password": password}) },
		"verifyTwoFactor": func() request {
			_, email, recovery := protected()
			challenge := w.person(email).Str("challengeToken")
			r := request{}.with(nodetest.Object{"challengeToken": challenge, "code": recovery})
			r.perishable = true
			return r
		},
		"requestLoginCode": func() request { return request{}.with(nodetest.Object{"email": w.email(), "name": "Grace Hopper"}) },
		"exchangeLoginCode": func() request {
			email := w.email()
			r := request{}.with(nodetest.Object{"email": email, "code": w.loginKey(email)})
			r.perishable = true
			return r
		},
		"refreshTokens": signedIn,
		"logout":        signedIn,
		"logoutAll":     func() request { return request{}.by(w.guest().Token) },
		"listSessions":  func() request { return request{} },
		"enrollTwoFactor": func() request {
			return request{}.by(w.guest().Token)
		},
		"activateTwoFactor": func() request {
			p, device := w.enrolled(w.email())
			r := request{}.with(nodetest.Object{"code": device.Code(time.Now(), 0)}).by(p.Token)
			r.perishable = true
			return r
		},
		"disableTwoFactor": func() request {
			p, _, recovery := protected()
			return request{}.with(nodetest.Object{"code": recovery}).by(p.Token)
		},
		"forgotPassword": func() request { return request{}.with(nodetest.Object{"email": w.email()}) },
		"resetPassword": func() request {
			email := w.email()
			w.person(email)
			return request{}.with(nodetest.Object{"token": w.resetToken(email), "password": "another horse"})
		},
		"requestEmailConfirmation": func() request { return request{} },
		"confirmEmail": func() request {
			email := w.email()
			w.Register(email)
			return request{}.with(nodetest.Object{"token": w.confirmationToken(email), "password": password})
		},
		"getMe": func() request { return request{} },
		"updateMe": func() request {
			return request{}.with(nodetest.Object{"fullName": "Ada Obi", "phone": "+234 1", "locale": "en-NG"})
		},
	}
}

// ours asks for the organization's things by its number.
func (w *world) ours() request {
	return request{query: "orgId=" + w.orgID, ids: map[string]string{"?orgId": kindOrg}}
}

// enrolled is somebody new with an authenticator that is not active yet.
func (w *world) enrolled(email string) (*nodetest.Shop, nodetest.Authenticator) {
	w.T.Helper()
	p := w.As(w.person(email).Str("accessToken"))
	text := p.Own("POST", "/auth/2fa/enroll", nil).Is(200, "").Str("secret")
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	require.NoError(w.T, err)
	return p, nodetest.Authenticator{Secret: secret}
}

// orgRequests are those that manage the organization.
func (w *world) orgRequests() map[string]func() request {
	member := func() request {
		return naming("id", w.orgID, "userId", w.Invite(w.email(), route.RoleMember))
	}
	key := func() request { return naming("orgId", w.orgID, "keyId", w.Key(nil).Str("id")) }
	fields := nodetest.Object{"name": "Gate", "scopes": []string{"checkin:write"}, "ipAllowlist": []string{"127.0.0.0/8"}, "expiresAt": nodetest.Stamp(time.Hour)}
	credit := naming("orgId", w.orgID).with(nodetest.Object{"amount": 250, "currency": "USD", "note": "thanks", "reference": "wire 1"})
	return map[string]func() request{
		"getOrganization":           func() request { return naming("id", w.orgID) },
		"listWallets":               w.ours,
		"listWalletsOfOrganization": func() request { return naming("orgId", w.orgID) },
		"listWalletEntries": func() request {
			w.root.Own("POST", "/admin/wallets/"+w.orgID+"/credit", credit.body).Is(201, "")
			r := w.ours()
			r.params = map[string]string{"currency": "USD"}
			return r
		},
		"creditWallet": func() request { return credit },
		"drainNode":    func() request { return request{} },
		"updateOrganization": func() request {
			return naming("id", w.orgID).with(nodetest.Object{
				"name": "Hill Nights", "description": "d", "website": nodetest.URI(30), "contactEmail": "box@example.org", "contactPhone": "+49 30 1",
				"logoUrl": nodetest.URI(31), "socialLinks": nodetest.Object{}, "pageTheme": nodetest.Object{}, "embedOrigins": []string{"https://example.org"},
			})
		},
		"listMembers": func() request { return naming("id", w.orgID) },
		"addMember": func() request {
			return naming("id", w.orgID).with(nodetest.Object{"email": w.email(), "role": "member", "name": "Kim"})
		},
		"updateMember": func() request { return member().with(nodetest.Object{"role": "admin"}) },
		"removeMember": member,
		"createApiKey": func() request {
			return naming("orgId", w.orgID).with(nodetest.With(fields, nodetest.Object{"environment": "test"}))
		},
		"listApiKeys":  func() request { return naming("orgId", w.orgID) },
		"listRequests": w.loggedRequests,
		"getFailedRequest": func() request {
			return naming("orgId", w.orgID, "requestId", w.failedRequest(w.Shop, w.orgID, w.secret))
		},
		"getRequestMetrics": func() request { return naming("orgId", w.orgID) },
		"getLimits":         func() request { return naming("orgId", w.orgID) },
		"updateApiKey":      func() request { return key().with(nodetest.With(fields, nodetest.Object{"status": "active"})) },
		"revokeApiKey":      key,
		"rotateApiKey":      key,
		"limitApiKey": func() request {
			r := key().with(nodetest.Object{"strictPerMinute": 60})
			delete(r.params, "orgId")
			return r
		},
	}
}

// loggedRequests asks for those of a key that the log has some of.
func (w *world) loggedRequests() request {
	w.As(w.secret).Own("GET", "/organizer/events?limit=1", nil).Is(200, "")
	r := naming("orgId", w.orgID)
	r.query, r.ids = "keyId="+w.keyID, map[string]string{"?keyId": kindKey}
	require.Eventually(w.T, func() bool {
		page := w.Own("GET", "/organizer/integrations/org/"+w.orgID+"/requests?"+r.query, nil).Is(200, "")
		return len(page.Data("items").([]any)) > 0
	}, time.Minute, 20*time.Millisecond)
	return r
}

// failedRequest has a key send requests that fail, and returns the id of the first that is kept. Of an
// organization's, only some are kept in a minute, and the suite's attempts may have been these.
func (w *world) failedRequest(s *nodetest.Shop, org, secret string) (kept string) {
	program := w.As(secret)
	var sent []string
	require.Eventually(w.T, func() bool {
		for _, id := range sent {
			if s.Own("GET", "/organizer/integrations/org/"+org+"/requests/"+id, nil).Status == http.StatusOK {
				kept = id
				return true
			}
		}
		r := program.Raw("POST", "/organizer/events", "application/json", `{"title":5}`, program.Bearer()...).Is(w.T, 400)
		sent = append(sent[max(0, len(sent)-4):], r.Header.Get("X-Request-Id"))
		return false
	}, 3*time.Minute, time.Second)
	return kept
}
