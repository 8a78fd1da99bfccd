export default async function stopServices() {
  await globalThis.stopTestServices?.();
}
