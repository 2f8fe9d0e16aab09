// The port to a remote: fetch and push, over HTTP or SSH.
import type { Push } from './config-source.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'

/** Each throws a `RemoteError`, the file system's error, or isomorphic-git's. */
export interface RemoteTransport {
  /** Refs that start with `prefix`, as the remote has them now. Moves no objects. */
  list(prefix: string): Promise<ReadonlyMap<string, string>>
  /** Brings a ref and its history into the mirror. */
  fetch(gitdir: string, ref: string): Promise<void>
  /**
   * Moves `ref` from where the push expects it.
   *
   * @returns '' when it has moved, else the server's reason
   */
  push(mirror: GitDriver, ref: string, push: Push): Promise<string>
}
