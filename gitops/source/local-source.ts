// Implements the source of commits on a local repository: nothing is fetched.
import { err, ok } from '#lib/result.ts'
import { attestationRefPrefix } from '#gitops/trust/attestation.ts'
import type { ConfigSource } from './config-source.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { diskError } from './disk-error.ts'
import { gitLimits } from '#gitops/limits.ts'

const repairAdvice =
  'Put a clone of a checkout, or a backup, in place of the repository ' +
  '(docs/operations/trust.md, "Damaged objects"); what was accepted goes on serving.'

/** @param incoming see `createDiskDriver` */
export function createLocalSource(
  gitdir: string,
  branch: string,
  incoming: string | null = null,
): ConfigSource {
  const driver = createDiskDriver(gitdir, incoming)
  const ref = `refs/heads/${branch}`
  return {
    driver,
    name: gitdir,
    isLocal: true,
    async push({ expected, commit, objects }) {
      try {
        await driver.writeObjects(objects)
        const moved = await driver.moveRef(ref, expected, commit)
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
        // The ref has moved, but may not survive a power cut: its folder could not be flushed.
        const hasMoved = driver.readRef(ref) === commit
        return err({ kind: hasMoved ? 'unknown' : 'not-done', error: refusal })
      }
    },
    async checkPush({ objects }) {
      try {
        // Nothing refers to the objects: git removes them after weeks, unless the change is made
        // again.
        await driver.writeObjects(objects)
        const head = driver.readRef(ref)
        // Moves the ref to where it is. If another writer moves it meanwhile, it can be written as
        // well.
        if (head !== null) await driver.moveRef(ref, head, head)
        return ok(undefined)
      } catch (error) {
        const refusal = diskError(error)
        if (refusal === undefined) throw error
        return err(refusal)
      }
    },
    head: async () => ok(driver.readRef(ref)),
    attestations: async () => ok(driver.listRefs(attestationRefPrefix)),
    inspect: (accepted) => {
      const there = driver.stillHas(accepted)
      if (there.ok) return there
      return err({ code: 'Unreadable', reason: `${there.error.reason} ${repairAdvice}` })
    },
    fetch: async () => ok(undefined),
    readAttestation: async (_commit, blob) => {
      const bytes = await driver.readBlob(blob, gitLimits.attestationBytesMax)
      if (!bytes.ok && bytes.error.kind === 'oversized') return ok(null)
      return bytes.ok ? bytes : err({ code: 'Unreadable', reason: bytes.error.reason })
    },
    repairAdvice,
    discard: () => undefined,
  }
}
