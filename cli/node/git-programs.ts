// What the Git side needs of programs: git to pack a repository, git and ssh for a remote over SSH.
import { mirrorPath, originPath } from '#gitops/thread/options.ts'
import { Repacker } from '#gitops/git/repacker.ts'
import type { SshAccess } from '#gitops/source/ssh-transport.ts'
import { systemClock } from '#lib/clock.ts'
import { systemAfter } from '#lib/timer.ts'
import type { ProcessLog } from '#cli/terminal/log.ts'
import type { Settings } from '#cli/settings/settings.ts'

export function sshAccess({ sshKey, knownHosts }: Settings['gitops']): SshAccess {
  const searchPath = process.env['PATH'] ?? ''
  return { keyPath: sshKey, knownHostsPath: knownHosts, searchPath }
}

export function createRepacker({ dataDir, gitops }: Settings, log: ProcessLog): Repacker {
  return new Repacker({
    gitdir: gitops.url === '' ? originPath(dataDir) : mirrorPath(dataDir),
    afterObjects: gitops.packAfterObjects,
    searchPath: process.env['PATH'] ?? '',
    clock: systemClock,
    after: systemAfter,
    log,
  })
}
