// Git over HTTP(S) with isomorphic-git; needs no git program.
import fs from 'node:fs'
import git from 'isomorphic-git'
import { createHttpClient, sha256Remote } from './http-client.ts'
import type { HttpLimits } from './http-client.ts'
import type { RemoteTransport } from './remote-transport.ts'
import { sendPack } from './send-pack.ts'

export interface HttpRemote {
  /** Without credentials. */
  readonly url: string
  /** Value of the Authorization header, or ''. */
  readonly authorization: string
  readonly limits: HttpLimits
  readonly stop: AbortSignal
}

export function createHttpTransport(remote: HttpRemote): RemoteTransport {
  const { url, authorization } = remote
  const http = createHttpClient(url, remote.limits, remote.stop)
  /** isomorphic-git adds to the object it is given, so each call gets its own. */
  const headers = (): Record<string, string> =>
    authorization === '' ? {} : { Authorization: authorization }
  /** One of another kind answers the library's question for its refs with nothing. */
  const expectSha1 = async (): Promise<void> => {
    const { capabilities } = await git.getRemoteInfo2({ http, url, headers: headers() })
    const format = (capabilities as Readonly<Record<string, unknown>>)['object-format']
    if (format === 'sha256') throw sha256Remote(url)
  }
  return {
    async list(prefix) {
      const refs = await git.listServerRefs({ http, url, headers: headers(), prefix })
      if (refs.length === 0 && prefix.startsWith('refs/heads/')) await expectSha1()
      return new Map(refs.map(({ ref, oid }) => [ref, oid]))
    },
    async fetch(gitdir, ref) {
      await git.fetch({
        fs,
        http,
        gitdir,
        url,
        headers: headers(),
        remote: 'origin',
        ref,
        remoteRef: ref,
        singleBranch: true,
        tags: false,
      })
    },
    push: (_mirror, ref, push) => sendPack({ http, url, headers: headers(), ref, push }),
  }
}
