// Single sign-on of a node, as its settings have it.
import { createOidcClient } from '#api/auth/oidc-client.ts'
import type { OidcClient } from '#api/auth/oidc-client.ts'
import { systemClock } from '#lib/clock.ts'
import type { OidcSection } from '#cli/settings/oidc.ts'

/** null: it is off. */
export function oidcOf(section: OidcSection): OidcClient | null {
  if (!section.enabled) return null
  // Whether they are there was checked with the file (`missingForOidc`).
  const { discoveryUrl = '', clientId = '', clientSecret = '', redirectUri = '' } = section
  const named = { discoveryUrl, clientId, clientSecret, redirectUri }
  return createOidcClient({ ...section, ...named }, systemClock)
}
