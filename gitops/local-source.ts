// Commits from a repository on this machine: nothing to fetch, the refs are the news.
import { err, ok } from '#lib/result.ts'
import { attestationRefPrefix } from './attestation.ts'
import type { ConfigSource } from './config-source.ts'
import { createDiskDriver } from './disk-driver.ts'
import { diskError } from './disk-error.ts'

export function createLocalSource(gitdir: string, branch: string): ConfigSource {
  const driver = createDiskDriver(gitdir)
  return {
    driver,
    name: gitdir,
    isLocal: true,
    async push({ expected, commit, objects }) {
      try {
        await driver.writeObjects(objects)
        const moved = await driver.moveRef(`refs/heads/${branch}`, expected, commit)
        if (moved.ok) return moved
        const isElsewhere = moved.error.current !== expected
        return err(
          isElsewhere
            ? { kind: 'lost-race' }
            : { kind: 'refused', reason: `${moved.error.reason}.` },
        )
      } catch (error) {
        const refusal = diskError(error)
        if (refusal === undefined) throw error
        return err({ kind: 'unknown', error: refusal })
      }
    },
    head: async () => ok(driver.readRef(`refs/heads/${branch}`)),
    attestations: async () => ok(driver.listRefs(attestationRefPrefix)),
    fetch: async () => ok(undefined),
    readAttestation: async (_commit, blob) => {
      const bytes = await driver.readBlob(blob)
      return bytes.ok ? bytes : err({ code: 'Unreadable', reason: bytes.error.reason })
    },
    repairAdvice:
      'Put a clone of a checkout, or a backup, in place of the repository ' +
      '(docs/operations/trust.md, "Damaged objects"); what was accepted goes on serving.',
    discard: () => undefined,
  }
}
