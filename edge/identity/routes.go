package identity

import (
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the error codes that a row documents.
type codes = []engine.Code

// own are the kinds of callers that act for an organization: its people and its API keys.
const own = route.Member | route.Key

// hashTime is the timeout of requests that hash a password. It is longer than for other requests: on a machine
// with few cores a hash takes seconds (package hasher), and people would rather wait than try again.
const hashTime = 15 * time.Second

// Routes returns the area's rows. The groups differ in who may call and in how calls are counted.
func (h *Handlers) Routes() []route.Op {
	return route.Table(
		// Requests without a session yet: they are counted by network, and few are allowed, because most are
		// guesses at a secret or send a mail.
		route.Group{
			Prefix: "/api/v1/auth",
			Tag:    "Auth",
			Auth:   route.Public,
			Tier:   route.TierAuth,
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/register",
					ID:          "register",
					Summary:     "Open an organizer's account",
					Description: "An organizer makes an account with a password, and with it an organization that the account owns; the answer is a session. A mail asks to confirm the address: until then the session may not do what needs a proven one.",
					Status:      201,
					Errors:      codes{engine.EmailTaken, engine.Unauthorized},
					Timeout:     hashTime,
					Handler:     route.Handle(h.register),
				},
				{
					Method:      "POST",
					Path:        "/login",
					ID:          "login",
					Summary:     "Sign in with a password",
					Description: "Somebody with a password signs in, and gets tokens, or a challenge for POST /auth/2fa-verify where two-factor authentication is on. An unknown address and a wrong password are the same 401.",
					Errors:      codes{engine.Unauthorized},
					Timeout:     hashTime,
					Handler:     route.Handle(h.login),
				},
				{
					Method:      "POST",
					Path:        "/2fa-verify",
					ID:          "verifyTwoFactor",
					Summary:     "Sign in with a second factor",
					Description: "A sign-in that was answered with requires2fa goes on here. After five minutes, or five wrong codes, it has to begin anew.",
					Errors:      codes{engine.Unauthorized, engine.Conflict},
					Handler:     route.Handle(h.verifyTwoFactor),
				},
				{
					Method:      "POST",
					Path:        "/token/request",
					ID:          "requestLoginCode",
					Summary:     "Mail a login code",
					Description: "Buyers, and all who have no password, ask for six digits by mail, which count for ten minutes: once a minute and five times an hour from a network, twenty times an hour in all. The answer's nonce belongs to the client that asks: exchanged with it, the code counts whatever others ask for. The answer does not tell whether the address has an account.",
					Handler:     route.Handle(h.requestCode),
				},
				{
					Method:      "POST",
					Path:        "/token/exchange",
					ID:          "exchangeLoginCode",
					Summary:     "Sign in with a login code",
					Description: "The code signs in to the account of its address, which is made if there is none, and proves the address. If nobody had proven it before, the account's password and sessions end, for they may be a stranger's; where two-factor authentication is on, the answer is a challenge.",
					Errors:      codes{engine.Unauthorized},
					Handler:     route.Handle(h.exchangeCode),
				},
				{
					Method:      "POST",
					Path:        "/refresh",
					ID:          "refreshTokens",
					Summary:     "Take new tokens for a refresh token",
					Description: "A client takes new tokens when the access token ends; the old refresh token is replaced. A replaced one that is used again ends the session, but within 30 seconds, for a client that missed the answer, it gets the same successor.",
					Errors:      codes{engine.Unauthorized},
					Handler:     route.Handle(h.refresh),
				},
				{
					Method:      "POST",
					Path:        "/logout",
					ID:          "logout",
					Summary:     "End a session",
					Description: "A client ends the session of a refresh token, also of a replaced one, or that of its access token. Tokens that are none, or of a session that has ended, are answered alike.",
					Handler:     route.Handle(h.logout),
				},
				{
					Method:      "POST",
					Path:        "/password/forgot",
					ID:          "forgotPassword",
					Summary:     "Mail a link to set a new password with",
					Description: "Somebody who does not know the password asks for a mailed link, which sets another within an hour. The answer does not tell whether the address has an account.",
					Handler:     route.Handle(h.forgotPassword),
				},
				{
					Method:      "POST",
					Path:        "/password/reset",
					ID:          "resetPassword",
					Summary:     "Set a new password",
					Description: "The page behind the mailed link sets the password; the link is then used up. All sessions of the account end, its address is proven, and a mail says that the password was changed.",
					Errors:      codes{engine.Unauthorized},
					Timeout:     hashTime,
					Handler:     route.Handle(h.resetPassword),
				},
			},
		},
		// These requests need a session and may change how the person signs in.
		route.Group{
			Prefix: "/api/v1/auth",
			Tag:    "Auth",
			Auth:   route.User,
			Tier:   route.TierAuth,
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/logout-all",
					ID:          "logoutAll",
					Summary:     "End all of one's sessions",
					Description: "Somebody who has lost a device ends all sessions of the account, this one too. Access tokens end with their sessions, on every node within a second.",
					Handler:     route.Handle(h.logoutAll),
				},
				{
					Method:      "GET",
					Path:        "/sessions",
					ID:          "listSessions",
					Summary:     "List one's sessions",
					Description: "Somebody looks where the account is signed in. Sessions that have ended are not shown.",
					Handler:     route.Handle(h.sessions),
				},
				{
					Method:      "POST",
					Path:        "/2fa/enroll",
					ID:          "enrollTwoFactor",
					Summary:     "Begin to use a second factor",
					Description: "Somebody with a proven address takes a secret for an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds). Nothing asks for it until POST /auth/2fa/activate; asking again draws another secret.",
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.enrollTwoFactor),
				},
				{
					Method:      "POST",
					Path:        "/2fa/activate",
					ID:          "activateTwoFactor",
					Summary:     "Switch two-factor authentication on",
					Description: "A code of the app shows that it has the secret, and from now on each sign-in asks for one. The answer has the recovery codes, which are not shown again; a mail tells of the change.",
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.activateTwoFactor),
				},
				{
					Method:      "DELETE",
					Path:        "/2fa",
					ID:          "disableTwoFactor",
					Summary:     "Switch two-factor authentication off",
					Description: "Somebody shows the second factor for the last time, by the app or by a recovery code, and sign-ins no longer ask for it. The recovery codes are gone too, and a mail tells of the change.",
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.disableTwoFactor),
				},
				{
					Method:      "POST",
					Path:        "/email/confirmation",
					ID:          "requestEmailConfirmation",
					Summary:     "Mail a link that confirms one's address",
					Description: "Somebody whose first mail was lost asks for another link, which is good for 24 hours. Nothing is mailed if the address is proven already.",
					Handler:     route.Handle(h.requestConfirmation),
				},
			},
		},
		// A link may be opened in a browser that is not signed in, so both kinds of callers are let
		// in; ownerOf checks the account's password or session.
		route.Group{
			Prefix: "/api/v1/auth/email/confirm",
			Tag:    "Auth",
			Auth:   route.Public | route.User,
			Tier:   route.TierAuth,
			Rows: []route.Op{
				{
					Method:      "POST",
					ID:          "confirmEmail",
					Summary:     "Confirm one's address",
					Description: "The page behind the mailed link proves that the mailbox and the account are one person's: the link is one half, the password or a session of the account the other. The account's sessions count as proven from then on.",
					Errors:      codes{engine.Unauthorized},
					Handler:     route.Handle(h.confirmEmail),
				},
			},
		},
		// A user's own account. Changes of it count in the strict tier.
		route.Group{
			Prefix: "/api/v1/users/me",
			Tag:    "Users",
			Auth:   route.User,
			Tier:   route.TierPublic,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "getMe",
					Summary:     "Read one's own account",
					Description: "A client reads the account of its session, and for which organizations the session may act. It needs no proven address.",
					Handler:     route.Handle(h.me),
				},
				{
					Method:      "PUT",
					ID:          "updateMe",
					Summary:     "Change one's own profile",
					Description: "The signed-in user changes the fields that are sent; null empties one. The address and the password are not changed here.",
					Tier:        route.TierStrict,
					Handler:     route.Handle(h.updateMe),
				},
				{
					Method:      "DELETE",
					ID:          "eraseMe",
					Summary:     "Be forgotten",
					Description: "The signed-in user ends the account and is forgotten: names and addresses give way to a pseudonym, orders are kept. It needs a proven address, and is refused while there are paid tickets for what is still to come, open orders or refunds, or an organization without another owner.",
					Tier:        route.TierStrict,
					Errors:      codes{engine.ActiveTickets, engine.Conflict, engine.Unauthorized, engine.Forbidden},
					Handler:     route.Handle(h.eraseMe),
				},
			},
		},
		// Programs may read the wallets of their organization if their key has the scope of payouts.
		route.Group{
			Prefix: "/api/v1/organizer/organizations/{id}",
			Tag:    "Organizations",
			Auth:   own,
			Read:   route.PayoutsRead,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "getOrganization",
					Summary:     "Read an organization with its wallets",
					Description: "The organization's people and programs read its profile and its balances. Others are answered 404, as if there were none.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.getOrganization),
				},
			},
		},
		// Memberships and the profile are for people alone: no API key may grant access.
		route.Group{
			Prefix: "/api/v1/organizer/organizations/{id}",
			Tag:    "Organizations",
			Auth:   route.Member,
			Read:   route.Manage,
			Write:  route.Manage,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "PUT",
					ID:          "updateOrganization",
					Summary:     "Change an organization's profile",
					Description: "An owner or admin changes the fields of the profile that are sent; null clears one. Buyers see it on the pages of the organization's events.",
					Handler:     route.Handle(h.updateOrganization),
				},
				{
					Method:      "GET",
					Path:        "/members",
					ID:          "listMembers",
					Summary:     "List an organization's members",
					Description: "An owner or admin reads who belongs to the organization, in the order of their accounts. Somebody who was invited is a member from the invitation on.",
					Handler:     route.Handle(h.listMembers),
				},
				{
					Method:      "POST",
					Path:        "/members",
					ID:          "addMember",
					Summary:     "Invite somebody into an organization",
					Description: "An owner or admin makes somebody a member at once and tells them by mail; only an owner makes an owner. An address without an account gets one, and signs in by a mailed code to prove itself.",
					Tier:        route.TierStrict,
					Status:      201,
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.addMember),
				},
				{
					Method:      "PUT",
					Path:        "/members/{userId}",
					ID:          "updateMember",
					Summary:     "Change a member's role",
					Description: "An owner or admin gives a member another role, which holds on every node within a second. Only an owner makes or changes an owner, and the last one can't be changed (409 CONFLICT).",
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.updateMember),
				},
				{
					Method:      "DELETE",
					Path:        "/members/{userId}",
					ID:          "removeMember",
					Summary:     "Remove a member",
					Description: "An owner or admin ends a membership; the answer is the member as it was. The account stays, its sessions stop acting for the organization within a second, and the last owner can't be removed (409 CONFLICT).",
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.removeMember),
				},
			},
		},
		// No API key may make keys: a thief of one key could make another that still works after the first is
		// revoked.
		route.Group{
			Prefix: "/api/v1/organizer/integrations/org/{orgId}/api-keys",
			Tag:    "API keys",
			Auth:   route.Member,
			Read:   route.Manage,
			Write:  route.Manage,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "POST",
					ID:          "createApiKey",
					Summary:     "Make an API key",
					Description: "An owner or admin makes a key for a program, which this answer alone shows whole. An organization has 100 keys at most that are not revoked.",
					Status:      201,
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.createAPIKey),
				},
				{
					Method:      "GET",
					ID:          "listApiKeys",
					Summary:     "List an organization's API keys",
					Description: "An owner or admin reads the organization's keys, the newest first, revoked ones too. No secret is among them.",
					Handler:     route.Handle(h.listAPIKeys),
				},
				{
					Method:      "PUT",
					Path:        "/{keyId}",
					ID:          "updateApiKey",
					Summary:     "Change an API key",
					Description: "An owner or admin changes the fields that are sent, and they hold on every node within a second. A revoked key can't be changed any more (409 CONFLICT).",
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.updateAPIKey),
				},
				{
					Method:      "DELETE",
					Path:        "/{keyId}",
					ID:          "revokeApiKey",
					Summary:     "Revoke an API key",
					Description: "An owner or admin ends a key for good; every node refuses it within a second. The key stays in the list as revoked, and revoking it again answers the same.",
					Handler:     route.Handle(h.revokeAPIKey),
				},
				{
					Method:      "POST",
					Path:        "/{keyId}/rotate",
					ID:          "rotateApiKey",
					Summary:     "Replace the secret of an API key",
					Description: "An owner or admin draws another secret for a key, which this answer alone shows, and with it another prefix. The old one is dead on every node within a second; scopes, addresses and limits stay.",
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.rotateAPIKey),
				},
			},
		},
		// Developers look at what their programs did. Programs may look too, except at headers and bodies.
		route.Group{
			Prefix: "/api/v1/organizer/integrations/org/{orgId}",
			Tag:    "API keys",
			Auth:   own,
			Read:   route.AnalyticsRead,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					Path:        "/requests",
					ID:          "listRequests",
					Summary:     "List the requests of an organization's API keys",
					Description: "What the organization's programs have sent, the newest first, for seven days; a request may appear some seconds after its answer. A tool that an agent calls is a request of its own; requests without a valid key are in nobody's log, and under a very high load some may be missing.",
					Handler:     route.Handle(h.listRequests),
				},
				{
					Method:      "GET",
					Path:        "/requests/{requestId}",
					ID:          "getFailedRequest",
					Summary:     "Get the headers and bodies of a failed request",
					Description: "What a request was sent and answered: of one with a status of 400 or more, but for 429, its harmless headers and up to 16 KiB of each body without secrets are kept for 24 hours. Of uploads, statements and agents' messages no bodies are kept, and no more than 30 requests in a minute.",
					Auth:        route.Member,
					Scope:       route.AnalyticsRead | route.WebhooksManage,
					Handler:     route.Handle(h.getFailedRequest),
				},
				{
					Method:      "GET",
					Path:        "/limits",
					ID:          "getLimits",
					Summary:     "Get what an organization's API keys have left of their limits",
					Description: "What is left: of the rates of keys, each alone and all together, on the node that answers, and of what may be stored. A key whose limit of strict requests the operator has set counts in that alone.",
					Handler:     route.Handle(h.getLimits),
				},
				{
					Method:      "GET",
					Path:        "/metrics",
					ID:          "getRequestMetrics",
					Summary:     "Count the requests of an organization's API keys",
					Description: "The organization's developers see how many requests each route had from their programs, how many failed and how long they took. The figures are made from the request log.",
					Handler:     route.Handle(h.getRequestMetrics),
				},
			},
		},
		// Only administrators of the platform: limits protect all organizations from each other.
		route.Group{
			Prefix: "/api/v1/admin/api-keys/{keyId}/limits",
			Tag:    "API keys",
			Auth:   route.Admin,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "PUT",
					ID:          "limitApiKey",
					Summary:     "Set an API key's own limit of strict writes",
					Description: "An administrator of the platform lets a key make more, or fewer, requests of the strict tier than the tier allows, for a partner who sells much. It holds on every node within a second.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.limitAPIKey),
				},
			},
		},
	)
}
