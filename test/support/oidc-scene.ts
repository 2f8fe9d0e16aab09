// A browser, the API and an identity provider, for tests of single sign-on.
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { createOidcClient } from '#access/auth/oidc-client.ts'
import type { OidcSettings } from '#access/auth/oidc-client.ts'
import { createWorld } from './api-world.ts'
import type { World } from './api-world.ts'
import { openBrowser } from './browser.ts'
import type { Browser, Visit } from './browser.ts'
import { clientId, clientSecret, startIdentityProvider } from './identity-provider.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { persistentAdapters, useState } from './persistent-adapters.ts'

/** The API's origin for the browser and the provider. */
export const site = 'http://gslb.test'
export const redirectUri = `${site}/api/v1/auth/oidc/callback`
export const start = `${site}/api/v1/auth/oidc/authorize`
/** Page of a browser after a login, to which / redirects. */
export const home = `${site}/api/v1/docs`
export const ann = {
  sub: 'ann',
  email: 'Ann@Example.com',
  email_verified: true,
  name: 'Ann Example',
} as const

export interface Scene {
  readonly world: World
  readonly browser: Browser
  readonly hosts: Readonly<Record<string, string>>
  /** Lines of the log. */
  readonly log: readonly string[]
  readonly logIn: (onto?: (next: URL) => URL) => Promise<Visit>
}

/** Call it once in a file: one provider and one database, fresh for each test. */
export function useScenes() {
  const [[, adapter]] = persistentAdapters as [(typeof persistentAdapters)[number]]
  const state = useState(adapter)
  const scenes: Scene[] = []
  let provider: IdentityProvider
  beforeAll(async () => {
    provider = await startIdentityProvider(redirectUri)
  })
  beforeEach(() => {
    provider.person = ann
    provider.tamper = null
    provider.answers.clear()
    provider.asked.length = 0
  })
  afterEach(async () => {
    for (const { world } of scenes.splice(0)) await world.app.close()
  })
  afterAll(() => provider.stop())

  const open = async (settings: Partial<OidcSettings> = {}): Promise<Scene> => {
    const log: string[] = []
    const write = (fields: object, message: string): void => {
      log.push(`${message} ${JSON.stringify(fields)}`)
    }
    const world = await createWorld(state(), { log: { info: write, warn: write, error: write } })
    const oidc = createOidcClient({ ...plain(provider.issuer), ...settings }, world.time.clock)
    Object.assign(world.ports, { oidc })
    await world.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = world.app.server.address() as AddressInfo
    const hosts = { [site]: `http://127.0.0.1:${port}` }
    const browser = openBrowser(hosts)
    const logIn: Scene['logIn'] = (onto) => browser.follow(start, onto)
    const scene = { world, browser, hosts, log, logIn }
    scenes.push(scene)
    return scene
  }
  return { state, open, provider: () => provider }
}

const plain = (issuer: string): OidcSettings => ({
  discoveryUrl: issuer,
  clientId,
  clientSecret,
  redirectUri,
  scopes: ['openid', 'profile', 'email'],
  roleClaim: '',
  roleMapping: {},
  defaultRole: 'viewer',
  allowedDomains: [],
  trustEmail: false,
})

export const sessionOf = ({ browser }: Scene): string | undefined =>
  browser.cookies(site).get('gslb_session')

/** The answer of /auth/me to the browser's session. */
export async function whoIs(scene: Scene): Promise<unknown> {
  const cookie = sessionOf(scene) ?? ''
  return (await scene.world.call('GET', '/api/v1/auth/me', { cookie })).body
}

export const errorOf = ({ text }: Visit): string => (JSON.parse(text) as { error: string }).error
