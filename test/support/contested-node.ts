// A node of a contested remote, set up as by its operator: settings, key, data directory.
import { mkdirSync, writeFileSync } from 'node:fs'
import type { ContestedRemote } from './contested-remote.ts'

/**
 * @param more sections of the settings
 * @returns path of the settings; the second call is for the same node
 */
export function contestedNode(
  remote: ContestedRemote,
  name: 'one' | 'two',
  { gitops = {}, ...more }: { readonly gitops?: object } & Record<string, unknown> = {},
): string {
  const { box, pems, signers, url } = remote
  mkdirSync(box.at(name, 'keys'), { recursive: true })
  writeFileSync(box.at(name, 'keys', 'node.pem'), pems[name], { mode: 0o600 })
  const settings = {
    dataDir: `./${name}`,
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    api: { enabled: true, port: 0 },
    gitops: { url, allowedSigners: signers, poll: '1s', ...gitops },
    ...more,
  }
  return box.write(`${name}.yaml`, JSON.stringify(settings))
}
