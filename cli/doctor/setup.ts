// Checks whether the first account is still to be made, by asking the running node.
import { openNodeApi } from '#cli/watch/node-api.ts'
import { variable } from '#system/process/command.ts'
import { good, unknown, warning } from './check.ts'
import type { Check, Finding, CheckedNode } from './check.ts'

export const setup: Check = {
  name: 'setup',
  look: async (node) => [await lookAt(node)],
}

async function lookAt({ settings, env }: CheckedNode): Promise<Finding> {
  const { roles, api, auth } = settings
  if (!roles.includes('control') || !api.enabled) return good('this node has no accounts')
  if (!auth.setupEndpoint) return good('setup is closed (auth.setupEndpoint is false)')
  if (variable(env, 'GSLB_API_KEY') === undefined) {
    return unknown('without GSLB_API_KEY whoever reaches the API needs no account')
  }
  // Everybody may ask, so no key is sent.
  const node = openNodeApi(`http://${hostOf(api.listenAddr)}:${api.port}`, {})
  const read = node.ok ? await node.value.json('/api/v1/auth/config') : node
  if (!read.ok) return unknown('the node does not answer here, which knows whether it has accounts')
  const { setupOpen } = (read.value ?? {}) as { readonly setupOpen?: unknown }
  if (setupOpen !== true) return good('the first account has been made')
  const todo =
    'make it (gslbd serve --create-admin, with the node stopped), before others reach the API; ' +
    'or set auth.setupEndpoint to false'
  return warning('there is no account yet, and setup is open', todo)
}

/** The address by which this machine reaches the listener. */
function hostOf(listenAddr: string): string {
  if (listenAddr === '0.0.0.0') return '127.0.0.1'
  if (listenAddr === '::') return '[::1]'
  return listenAddr.includes(':') ? `[${listenAddr}]` : listenAddr
}
