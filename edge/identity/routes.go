package identity

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes are the area's rows.
func (h *Handlers) Routes() []route.Op {
	return []route.Op{
		{Method: "POST", Path: "/api/v1/auth/register", ID: "register", Tag: "Auth", Summary: "Open an organizer's account", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 201, Errors: codes{engine.EmailTaken, engine.Unauthorized}, Handler: route.Handle(h.register)},
		{Method: "POST", Path: "/api/v1/auth/login", ID: "login", Tag: "Auth", Summary: "Sign in with a password", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(h.login)},
		{Method: "POST", Path: "/api/v1/auth/2fa-verify", ID: "verifyTwoFactor", Tag: "Auth", Summary: "Sign in with a second factor", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized, engine.Conflict}, Handler: route.Handle(h.verifyTwoFactor)},
		{Method: "POST", Path: "/api/v1/auth/token/request", ID: "requestLoginCode", Tag: "Auth", Summary: "Mail a login code", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(h.requestCode)},
		{Method: "POST", Path: "/api/v1/auth/token/exchange", ID: "exchangeLoginCode", Tag: "Auth", Summary: "Sign in with a login code", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(h.exchangeCode)},
		{Method: "POST", Path: "/api/v1/auth/refresh", ID: "refreshTokens", Tag: "Auth", Summary: "Take new tokens for a refresh token", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(h.refresh)},
		{Method: "POST", Path: "/api/v1/auth/logout", ID: "logout", Tag: "Auth", Summary: "End a session", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(h.logout)},
		{Method: "POST", Path: "/api/v1/auth/logout-all", ID: "logoutAll", Tag: "Auth", Summary: "End all of one's sessions", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(h.logoutAll)},
		{Method: "GET", Path: "/api/v1/auth/sessions", ID: "listSessions", Tag: "Auth", Summary: "List one's sessions", Auth: route.User, Tier: route.TierAuth, Status: 200, Errors: codes{}, Handler: route.Handle(h.sessions)},
		{Method: "POST", Path: "/api/v1/auth/2fa/enroll", ID: "enrollTwoFactor", Tag: "Auth", Summary: "Begin to use a second factor", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Conflict}, Handler: route.Handle(h.enrollTwoFactor)},
		{Method: "POST", Path: "/api/v1/auth/2fa/activate", ID: "activateTwoFactor", Tag: "Auth", Summary: "Switch two-factor authentication on", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Conflict}, Handler: route.Handle(h.activateTwoFactor)},
		{Method: "DELETE", Path: "/api/v1/auth/2fa", ID: "disableTwoFactor", Tag: "Auth", Summary: "Switch two-factor authentication off", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Conflict}, Handler: route.Handle(h.disableTwoFactor)},
		{Method: "POST", Path: "/api/v1/auth/password/forgot", ID: "forgotPassword", Tag: "Auth", Summary: "Mail a link to set a new password with", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(h.forgotPassword)},
		{Method: "POST", Path: "/api/v1/auth/password/reset", ID: "resetPassword", Tag: "Auth", Summary: "Set a new password", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(h.resetPassword)},
		{Method: "POST", Path: "/api/v1/auth/email/confirmation", ID: "requestEmailConfirmation", Tag: "Auth", Summary: "Mail a link that confirms one's address", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(h.requestConfirmation)},
		{Method: "POST", Path: "/api/v1/auth/email/confirm", ID: "confirmEmail", Tag: "Auth", Summary: "Confirm one's address", Auth: route.Public | route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(h.confirmEmail)},

		{Method: "GET", Path: "/api/v1/users/me", ID: "getMe", Tag: "Users", Summary: "Read one's own account", Auth: route.User, Tier: route.TierPublic, Status: 200, Errors: codes{}, Handler: route.Handle(h.me)},

		{Method: "GET", Path: "/api/v1/organizer/organizations/{id}", ID: "getOrganization", Tag: "Organizations", Summary: "Read an organization with its wallets", Auth: own, Scope: route.PayoutsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.getOrganization)},
		{Method: "GET", Path: "/api/v1/organizer/organizations/{id}/members", ID: "listMembers", Tag: "Organizations", Summary: "List an organization's members", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listMembers)},
		{Method: "POST", Path: "/api/v1/organizer/organizations/{id}/members", ID: "addMember", Tag: "Organizations", Summary: "Invite somebody into an organization", Auth: route.Member, Scope: route.Manage, Tier: route.TierStrict, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.addMember)},
		{Method: "PUT", Path: "/api/v1/organizer/organizations/{id}/members/{userId}", ID: "updateMember", Tag: "Organizations", Summary: "Change a member's role", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.updateMember)},
		{Method: "DELETE", Path: "/api/v1/organizer/organizations/{id}/members/{userId}", ID: "removeMember", Tag: "Organizations", Summary: "Remove a member", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.removeMember)},

		{Method: "POST", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys", ID: "createAPIKey", Tag: "API keys", Summary: "Make an API key", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.createAPIKey)},
		{Method: "GET", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys", ID: "listAPIKeys", Tag: "API keys", Summary: "List an organization's API keys", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listAPIKeys)},
		{Method: "PUT", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys/{keyId}", ID: "updateAPIKey", Tag: "API keys", Summary: "Change an API key", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.updateAPIKey)},
		{Method: "DELETE", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys/{keyId}", ID: "revokeAPIKey", Tag: "API keys", Summary: "Revoke an API key", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.revokeAPIKey)},
		{Method: "POST", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys/{keyId}/rotate", ID: "rotateAPIKey", Tag: "API keys", Summary: "Replace the secret of an API key", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.rotateAPIKey)},
		{Method: "PUT", Path: "/api/v1/admin/api-keys/{keyId}/limits", ID: "limitAPIKey", Tag: "API keys", Summary: "Set an API key's own limit of strict writes", Auth: route.Admin, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.limitAPIKey)},
	}
}
