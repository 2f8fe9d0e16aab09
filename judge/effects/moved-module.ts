// Names the module that compares the clients of two bundles, for another thread.

export const movedModule = new URL('./moved.ts', import.meta.url).href
